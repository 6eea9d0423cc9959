"""Windows that slide over the spatial dimensions of a tensor: for Convolution, ConvolutionTransposed and Pool."""
