"""The ops in groups, one row each; the rows of `elementwise_unary` and `broadcast_binary` join them in the order of ops.csv."""
