"""The portable kernels of Quantize: numbers as integers that count steps of a scale."""
