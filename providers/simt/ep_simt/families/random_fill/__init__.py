"""The portable kernels of RandomFill: words of Philox, and elements from them."""
