"""The portable kernels of LayerNorm: a group of work-items a row, and trees in shared memory."""
