"""Layout: how tensors lie, as values that name no memory.

In:  extents, strides, element types; what a provider says of a device.
Out: a `TensorSpec` or a `Scalar`, `Roles`, a `Cell`, a `Geometry` of merged dimensions; a `DeviceInfo` and a `MemoryKind`; which
elements two specs share (`overlap`), and other specs of the same memory (`views`).
"""
