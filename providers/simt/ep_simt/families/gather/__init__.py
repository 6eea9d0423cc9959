"""The portable kernels of Gather: elements and rows from where indices say, zeros for indices out of range."""
