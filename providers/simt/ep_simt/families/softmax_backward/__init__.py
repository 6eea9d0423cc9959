"""The portable kernels of SoftmaxBackward."""
