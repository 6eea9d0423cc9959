"""The portable kernels of Fill: out = a number, or one element."""
