"""Stages of the recurrent cells: what they do with their gates behind a product, for which a provider may have kernels."""
