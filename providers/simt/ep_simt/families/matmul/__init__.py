"""The portable kernels of Matmul: tiles of both factors in shared memory, blocks of the product in registers."""
