"""Exchange: tensors of other libraries seen in place, and those of EP shown to them.

In:  arrays, buffers, DLPack capsules, native allocations.
Out: a `Tensor`, a memory with its spec; an `Exported`; what an object says of itself (`producer`).
"""
