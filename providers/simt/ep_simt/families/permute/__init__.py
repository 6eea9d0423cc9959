"""The portable kernels of Permute: a Copy of x with its dimensions in another order."""
