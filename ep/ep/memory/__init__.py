"""Memory: bytes on a device, from the provider's allocation to the user's view of them, and back.

In:  requests for bytes, and what a provider's device allocates.
Out: a `Memory` of a `Block`; the `Heap` and the `Pool` that serve it, the `RetireList` that gives it back when no work can touch it;
scratch of kernels; buffers of the host as flat bytes.
"""
