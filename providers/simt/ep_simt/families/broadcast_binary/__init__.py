"""The portable kernels of BroadcastBinary: out = op(a, b)."""
