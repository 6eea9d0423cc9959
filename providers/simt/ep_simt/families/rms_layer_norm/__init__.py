"""The portable kernels of RmsLayerNorm: LayerNorm's, with 0 for the mean."""
