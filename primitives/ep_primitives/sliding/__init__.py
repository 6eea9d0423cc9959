"""What Convolution, ConvolutionTransposed and Pool share: windows that slide over the spatial dimensions of a tensor."""
