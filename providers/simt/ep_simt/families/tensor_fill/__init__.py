"""The portable kernels of TensorFill: a Copy of one element to everywhere."""
