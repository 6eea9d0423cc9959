"""TensorSpec says how a tensor lies in a memory; Scalar says that an operand is a number given at launch."""

from __future__ import annotations

import functools
import math
from typing import Any, Final, final

from ep.dtypes import DTYPES, DType, name_of
from ep.ground.glimpse import glimpse
from ep.integers import index, taken

__all__ = ["MAX_RANK", "Scalar", "TensorSpec", "dense_strides"]

MAX_RANK: Final = 16
_MOST_BYTES: Final = 2**60  # more than any machine has; the bytes that a launch moves then fit 63 bits


_MOST_KNOWN: Final = 8192
"""Specs that the cache keeps; making one of them again costs a look-up."""
_NEXT: Final = (1,)


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the row-major strides of a dense tensor, in elements."""
    if len(shape) == 1:
        return _NEXT
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


@final
class TensorSpec:
    """A dtype, a shape, strides and an offset: which elements of a memory are a tensor. A frozen, hashable value.

    dtype    : name of an element type, as in `ep.dtypes`; also given as a dtype of NumPy or ml_dtypes, or numpy.float32
    shape    : extents, 0 to 16 of them, each at least 0; a tensor without elements has no larger ones than others
    strides  : distance of neighbours along each dimension, in elements; may be 0 or negative; None is row-major
    offset   : place of index (0, ..., 0), in elements from the start of the memory

    `lo` and `hi` bound the touched span [lo, hi) in elements; `nbytes` is the least size of a memory for it. Raises
    TypeError or ValueError for any other arguments, for a span that begins below zero, and for more than 2**60 bytes.
    """

    __slots__ = ("_hash", "dtype", "hi", "is_dense", "itemsize", "lo", "nbytes", "offset", "shape", "size", "strides")

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int
    size: int
    lo: int
    hi: int
    nbytes: int
    is_dense: bool

    def __new__(cls, dtype: Any, shape: Any, strides: Any = None, offset: Any = 0) -> TensorSpec:
        """Return the spec, the same object for equal arguments as long as it is among the last few thousand."""
        try:
            # The sums reveal the types of all numbers: 2.0 equals 2, but is no integer.
            if (
                type(dtype) is str
                and type(shape) is tuple
                and type(sum(shape, offset)) is int
                and (strides is None or (type(strides) is tuple and type(sum(strides)) is int))
            ):
                return _known(dtype, shape, strides, offset)
        except Exception:  # noqa: BLE001, S110 - the code below finds the fault and words it
            pass
        dtype, shape = name_of("TensorSpec: dtype", dtype), _extents(shape)
        strides = None if strides is None else _integers("strides", strides)
        (offset,) = _integers("offset", (offset,))
        return _known(dtype, shape, strides, offset)

    @classmethod
    def of(cls, obj: Any) -> TensorSpec:
        """Return the spec of an array, or of an object that `ep.view` takes; `ep.view` returns its memory, too.

        The offset is that of the object's first element from its lowest, not 0 where strides are negative.

        Raises TypeError if the object has none of the protocols, ValueError for an element type that EP lacks.
        """
        from ep.exchange.interchange import describe  # noqa: PLC0415 - interchange imports this module

        return describe(obj)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def overlaps_itself(self) -> bool:
        """True if two indices may name one element, so that the tensor cannot be an output."""
        from ep.layout.overlap import overlaps_itself  # noqa: PLC0415 - overlap imports this module

        return overlaps_itself(self)

    def dense(self) -> TensorSpec:
        """Return the row-major spec of the same dtype and shape."""
        return TensorSpec(self.dtype, self.shape)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"TensorSpec is frozen; make a new one instead of setting {name}"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (
            self._hash == other._hash  # type: ignore[attr-defined]
            and self.shape == other.shape
            and self.strides == other.strides
            and self.offset == other.offset
            and self.dtype == other.dtype
        )

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined, no-any-return]

    def __repr__(self) -> str:
        text = f"TensorSpec({self.dtype!r}, {self.shape}"
        if not self.is_dense:
            text += f", strides={self.strides}"
        if self.offset:
            text += f", offset={self.offset}"
        return text + ")"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSpec, (self.dtype, self.shape, self.strides, self.offset)


@final
class Scalar:
    """An operand that is a number, given at launch and held in the compute type of `dtype`.

    dtype : an element type, as TensorSpec takes it

    Frozen, and one object for each element type. Raises ValueError for a dtype that EP lacks, TypeError for no dtype.
    """

    __slots__ = ("dtype",)

    dtype: str

    def __new__(cls, dtype: Any) -> Scalar:
        """Return the one of the element type."""
        return _SCALARS[dtype if type(dtype) is str and dtype in _SCALARS else name_of("Scalar: dtype", dtype)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a number: no dimensions."""
        return ()

    def __setattr__(self, name: str, value: object) -> None:
        message = f"Scalar is frozen; make a new one instead of setting {name}"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __repr__(self) -> str:
        return f"Scalar({self.dtype!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scalar, (self.dtype,)


def _scalar(dtype: str) -> Scalar:
    scalar = object.__new__(Scalar)
    object.__setattr__(scalar, "dtype", dtype)
    return scalar


_SCALARS: Final = {dtype: _scalar(dtype) for dtype in DTYPES}


@functools.lru_cache(maxsize=_MOST_KNOWN)
def _known(dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, offset: int) -> TensorSpec:
    """Return the spec of a dtype's name and of integers, checked."""
    row = DTYPES.get(dtype) or DTYPES[name_of("TensorSpec: dtype", dtype)]
    for extent in shape:
        if type(extent) is not int or not 0 <= extent <= _MOST_BYTES:
            shape = _extents(shape)
            break
    if len(shape) > MAX_RANK:
        shape = _extents(shape)
    offset = int(offset)
    size = math.prod(shape) or _no_elements(row, shape)
    dense = dense_strides(shape)
    lo, hi = offset, offset + size
    if strides is None:
        strides = dense
    else:
        strides = _integers("strides", strides)
        if len(strides) != len(shape):
            message = f"TensorSpec: strides {strides} and shape {shape} differ in length"
            raise ValueError(message)
        # A dimension that is never crossed has the stride of a dense tensor, so that equal layouts are equal values.
        crossed = zip(shape, strides, dense, strict=True)
        strides = tuple(have if extent > 1 and size else want for extent, have, want in crossed)
        lo, hi = _span(shape, strides, offset, size)
    if lo < 0:
        message = f"TensorSpec: the strides reach element {glimpse(lo)}, before the memory; give an offset of at least {glimpse(offset - lo)}"
        raise ValueError(message)
    end = hi * row.itemsize
    if end > _MOST_BYTES or size * row.itemsize > _MOST_BYTES:
        message = f"TensorSpec: {dtype} {shape} has {size} elements, up to byte {glimpse(end)}; at most 2**60 bytes are supported"
        raise ValueError(message)
    spec, place = object.__new__(TensorSpec), object.__setattr__
    place(spec, "dtype", dtype)
    place(spec, "shape", shape)
    place(spec, "strides", strides)
    place(spec, "offset", offset)
    place(spec, "itemsize", row.itemsize)
    place(spec, "size", size)
    place(spec, "lo", lo)
    place(spec, "hi", hi)
    place(spec, "nbytes", end if size else 0)
    place(spec, "is_dense", strides == dense)
    place(spec, "_hash", hash((dtype, shape, strides, offset)))
    return spec


def _span(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, size: int) -> tuple[int, int]:
    if not size:
        return offset, offset
    lo = hi = offset
    for extent, stride in zip(shape, strides, strict=True):
        if stride < 0:
            lo += (extent - 1) * stride
        else:
            hi += (extent - 1) * stride
    return lo, hi + 1


def _integers(name: str, values: Any) -> tuple[int, ...]:
    """Return an argument that is a sequence of at most MAX_RANK integers."""
    try:
        found = taken(values, MAX_RANK)
        integers = tuple([int(index(value)) for value in found])  # True is 1 here
    except TypeError:
        message = f"TensorSpec: {name} {glimpse(values)} is not a sequence of integers; give a tuple of them"
        raise TypeError(message) from None
    except ValueError:
        message = f"TensorSpec: {name} {glimpse(values)} has an integer of more than 64 bits; give smaller ones"
        raise ValueError(message) from None
    if len(integers) > MAX_RANK:
        message = f"TensorSpec: {name} {glimpse(values)} has more than {MAX_RANK} values, and a rank of at most {MAX_RANK} is supported; merge dimensions"
        raise ValueError(message)
    return integers


def _extents(shape: Any) -> tuple[int, ...]:
    extents = _integers("shape", shape)
    if min(extents, default=0) < 0:
        message = f"TensorSpec: shape {extents} has a value below 0; extents are at least 0"
        raise ValueError(message)
    if max(extents, default=0) > _MOST_BYTES:
        message = f"TensorSpec: shape {extents} has a value above 2**60; at most 2**60 bytes are supported"
        raise ValueError(message)
    return extents


def _no_elements(row: DType, shape: tuple[int, ...]) -> int:
    """Return 0, the size of a tensor without elements; its other extents have the same limits as in other tensors."""
    if math.prod([extent or 1 for extent in shape]) * row.itemsize > _MOST_BYTES:
        message = f"TensorSpec: {row.name} {shape} has no elements, and its other extents need more than 2**60 bytes; give smaller ones"
        raise ValueError(message)
    return 0
