"""ONNX's own tests on devices of EP, and docs/onnx.md, which says what passes."""
