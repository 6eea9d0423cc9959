"""The portable kernels of Cast: out = x in another element type."""
