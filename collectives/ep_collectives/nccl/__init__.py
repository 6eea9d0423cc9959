"""NCCL's shape: the calls that NCCL, RCCL and oneCCL share, on the streams of the device's driver."""
