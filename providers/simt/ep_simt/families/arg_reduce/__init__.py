"""The portable kernels of ArgReduce: pieces of rows joined by their best elements and the numbers of these."""
