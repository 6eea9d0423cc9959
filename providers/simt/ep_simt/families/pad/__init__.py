"""The portable kernels of Pad: rows of a border, a run of x, and a border."""
