"""PyTorch as a second opinion on every op: its expression of each, the comparison, and why the two differ where they do."""

import os

# The same kernels on every machine; PyTorch reads it when it is imported. Its vectorised ones differ a little.
os.environ["ATEN_CPU_CAPABILITY"] = "default"
os.environ["MKL_CBWR"] = "COMPATIBLE"  # the products of Intel's library, too
