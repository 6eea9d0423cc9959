"""A kernel key says which compiled code can do a descriptor's work: equal keys share code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.spec import Scalar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ep.layout.spec import TensorSpec
    from ep.work.descriptor import Descriptor

__all__ = ["KernelKey", "kernel_key"]

_INDEX_LIMIT: Final = 2**31 - 1
_EXTENT_CAP: Final = 64
_ALIGNMENT_CAP: Final = 16


class KernelKey(NamedTuple):
    """All that compiled code may depend on. Sizes, attributes and scalar values are not in it, unless in `special`.

    dtypes     : of every operand, in order, "" for an absent one
    compute    : the type that values are computed in
    layout     : "dense" (every tensor has stride 1 over one merged dimension) or "strided"
    scalars    : for each operand True if it is a number given at launch
    wide       : True if some index needs more than 31 bits
    extent     : power of two at or below the innermost merged extent, at most 64
    alignment  : bytes, at most 16, that divide every operand's start and outer strides, as far as the specs know
    special    : the value of the implementation's `specialise` for the descriptor, None in a descriptor's own key
    """

    family: str
    op: str
    dtypes: tuple[str, ...]
    compute: str
    layout: str
    scalars: tuple[bool, ...]
    wide: bool
    extent: int
    alignment: int
    special: Hashable = None


def kernel_key(
    descriptor: Descriptor,
    *,
    is_dense: bool,
    size: int,
    inner: int,
    outer: Iterable[tuple[TensorSpec, tuple[int, ...]]],
) -> KernelKey:
    """Return the key of a descriptor over its iteration space.

    is_dense : True if a kernel for dense tensors will do
    size     : number of elements visited
    inner    : the innermost merged extent, 0 if it is empty
    outer    : each tensor with its strides, in elements, but the innermost
    """
    specs, is_wide, alignment = descriptor.specs, size > _INDEX_LIMIT, _ALIGNMENT_CAP
    for spec, strides in outer:
        is_wide = is_wide or spec.hi > _INDEX_LIMIT
        if spec.offset or strides:
            for step in (spec.offset, *strides):
                while (step * spec.itemsize) % alignment:
                    alignment >>= 1
    return KernelKey(
        descriptor.family,
        descriptor.op,
        tuple(["" if spec is None else spec.dtype for spec in specs]),
        descriptor.compute,
        "dense" if is_dense else "strided",
        tuple([type(spec) is Scalar for spec in specs]),
        is_wide,
        min(1 << (inner.bit_length() - 1), _EXTENT_CAP) if inner else 1,
        alignment,
    )
