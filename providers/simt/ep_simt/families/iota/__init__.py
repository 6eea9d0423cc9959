"""The portable kernels of Iota: an arithmetic progression along an axis."""
