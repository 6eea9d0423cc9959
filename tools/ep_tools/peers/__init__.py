"""EP beside PyTorch and ONNX Runtime: what they answer, and how long they take."""
