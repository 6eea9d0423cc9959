"""The portable kernels of LogSoftmaxBackward."""
