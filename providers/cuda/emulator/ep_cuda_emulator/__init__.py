"""A CUDA driver without a GPU: `libcuda.so.1` with its PTX translated for the CPU and every access checked."""
