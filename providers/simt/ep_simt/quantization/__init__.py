"""The parts that Quantize and Dequantize share: the body, and its kernels."""
