"""The portable kernels of LogSoftmax."""
