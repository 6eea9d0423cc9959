"""The portable kernels of GroupNorm."""
