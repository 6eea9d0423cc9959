"""The parts that reductions share: how rows are cut into pieces, the kernels that join them, and the body of such families."""
