"""The portable kernels of Convolution: products of weights and windows, which are brought from x as they are needed."""
