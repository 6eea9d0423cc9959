"""Every program of CUDA, compiled for every architecture, and the record of those that were."""
