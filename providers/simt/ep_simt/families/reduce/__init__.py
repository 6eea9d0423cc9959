"""The portable kernels of Reduce: pieces of rows joined in trees, along rows or rows side by side."""
