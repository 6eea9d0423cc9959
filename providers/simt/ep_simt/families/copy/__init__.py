"""The portable kernels of Copy: out = x, bit for bit."""
