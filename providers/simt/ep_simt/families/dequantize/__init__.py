"""The portable kernels of Dequantize: integers as steps of a scale."""
