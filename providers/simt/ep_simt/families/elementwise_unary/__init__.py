"""The portable kernels of ElementwiseUnary: out = op(x)."""
