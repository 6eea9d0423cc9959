"""The ops in groups, one row each; `unary_ops` and `binary_ops` join the groups in the order of ops.csv."""
