"""The portable kernels of BatchNorm: two numbers for each channel, then a product and a difference with them."""
