"""Work: what is to be computed, and the kernels that do it.

In:  a `Descriptor`, with specs for operands.
Out: a `Primitive` of one device, found by its `Implementation` and `KernelKey` or lowered to `Stage`s; a bound `Step`; an
`Executable`, which is captured work made ready to run.
"""
