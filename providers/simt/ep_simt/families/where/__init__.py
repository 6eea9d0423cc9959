"""The portable kernels of Where: one of two elements, bit for bit."""
