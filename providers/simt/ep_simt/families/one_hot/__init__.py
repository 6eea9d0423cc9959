"""The portable kernels of OneHot: each element from the index of its row and its own class."""
