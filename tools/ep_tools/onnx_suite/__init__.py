"""ONNX's own tests on devices of EP, and docs/reports/onnx.md, which says what passes."""
