"""Matrix products by cuBLASLt, where NVIDIA's library is installed."""
