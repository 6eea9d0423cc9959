"""The parts of families that are a Copy of their input seen another way: the one body, and its kernels."""
