"""The portable kernels of RandomFill: words of Philox, and what elements are made of them."""
