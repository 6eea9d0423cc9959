"""Reducers are the kernels of a rank's device that reduce the terms of all ranks, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.errors import UnsupportedError
from ep_primitives import AddN, BroadcastBinary
from ep_primitives import Reduce as ReduceRows
from ep_primitives.families.add_n.descriptor import MOST_TERMS

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Reducer", "Reducers"]

_PAIRED: Final = {"max": "max", "min": "min", "prod": "mul"}
"""The ops of two tensors that reduce as the rows of Reduce do, in the same order."""
_ROUNDED: Final = frozenset({"float16", "bfloat16", "complex64", "complex128"})
"""The types whose products are left to Reduce: 16-bit ones are rounded once there, complex ones have its bound."""
_DIVIDED: Final = frozenset({"float32", "float64"})
"""The types whose mean is a sum divided, within its row's bound: 16-bit sums may overflow, complex quotients are off by more."""


class Reducer(NamedTuple):
    """The kernels that reduce a piece.

    reduce  : adds the terms where they lie, combines two of them, or reduces the columns of a matrix of them
    divide  : makes the mean of the sum, None for other ops, and where `reduce` gives the mean itself
    combines : how often `reduce` combines two; 0 where it takes all
    """

    reduce: ep.Primitive
    divide: ep.Primitive | None = None
    combines: int = 0

    @property
    def reaches(self) -> bool:
        """True if the terms may lie anywhere on the device."""
        return bool(self.combines) or isinstance(self.reduce.asked, AddN)

    @property
    def needs_room(self) -> bool:
        """True if there are results in between, or the kernels need scratch."""
        return self.combines > 1 or bool(self.scratch_nbytes)

    @property
    def scratch_nbytes(self) -> int:
        """The bytes that either kernel needs."""
        return max(self.reduce.scratch_nbytes, self.divide.scratch_nbytes if self.divide else 0)

    def launches(
        self, terms: Sequence[ep.Memory], result: ep.Memory, between: ep.Memory, scratch: ep.Memory, size: int
    ) -> Iterator[tuple[ep.Primitive, tuple[ep.Memory, ...], tuple[Any, ...]]]:
        """Yield the launches that reduce the terms: a primitive, its memories, and its numbers.

        result  : may be one of the terms
        between : for results in between; may be the result, if that is no term
        """
        inner = (scratch,) if self.reduce.scratch_nbytes else ()
        if self.combines:
            held = terms[0]
            for left, term in zip(range(self.combines - 1, -1, -1), terms[1:], strict=True):
                target = between if left else result  # which may be a term that is still to come
                yield self.reduce, (held, term, target, *inner), ()
                held = target
        else:
            yield self.reduce, (*terms, result, *inner), ()
        if self.divide is not None:
            inner = (scratch,) if self.divide.scratch_nbytes else ()
            yield self.divide, (result, result, *inner), self.divide._convert({"b": size})


class Reducers:
    """The kernels for one op and element type over `size` ranks, by how many elements a piece has.

    Sums, means of types that are computed in themselves, largest and smallest, and products that are rounded each time take
    the terms where they lie, if the device reaches them there, in the order of the ranks. What is left reduces the columns of a
    matrix of the terms: its kernels compute 16-bit types in float32 and round once, as the op's row says.

    size, device : as given
    itemsize     : of an element
    """

    def __init__(self, op: str, dtype: str, size: int, device: ep.Device) -> None:
        self._op, self._dtype, self.size, self.device = op, dtype, size, device
        self.itemsize = ep.TensorSpec(dtype, ()).itemsize
        self._made: dict[int, Reducer] = {}

    def of(self, count: int) -> Reducer:
        """Return the kernels that reduce pieces of `count` elements. Raises UnsupportedError."""
        reducer = self._made.get(count)
        if reducer is None:
            spec = ep.TensorSpec(self._dtype, (count,))
            reducer = self._made[count] = self._adder(spec) or self._pairer(spec) or Reducer(self._rows(spec))
        return reducer

    def _adder(self, spec: Any) -> Reducer | None:
        """Return the kernels of a sum or a mean over terms that lie anywhere, None if the device or the row wants others."""
        is_mean = self._op == "mean" and self._dtype in _DIVIDED
        if not (is_mean or self._op == "sum") or self.size > MOST_TERMS:
            return None
        try:
            add = AddN(*[spec] * self.size, out=spec).on(self.device)
            if not is_mean:
                return Reducer(add)
            return Reducer(add, BroadcastBinary("div", a=spec, b=ep.Scalar(self._dtype), out=spec).on(self.device))
        except UnsupportedError:
            return None

    def _pairer(self, spec: Any) -> Reducer | None:
        """Return the kernels that combine two terms, then the next, None if the device or the row wants others."""
        op = _PAIRED.get(self._op)
        if op is None or self.size == 1 or (op == "mul" and self._dtype in _ROUNDED):
            return None
        try:
            return Reducer(BroadcastBinary(op, a=spec, b=spec, out=spec).on(self.device), combines=self.size - 1)
        except UnsupportedError:
            return None

    def _rows(self, spec: Any) -> ep.Primitive:
        rows = ep.TensorSpec(self._dtype, (self.size, *spec.shape))
        return ReduceRows(self._op, x=rows, out=spec, axis=0).on(self.device)
