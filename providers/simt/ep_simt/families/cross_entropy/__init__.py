"""The portable kernels of CrossEntropy."""
