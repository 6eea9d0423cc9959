"""The portable kernels of SaturatingCast: out = x in a float8, at most its greatest number."""
