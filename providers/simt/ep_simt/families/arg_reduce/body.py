"""ArgReduce: elements by their bits and order, and the type of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import ArgReduce

import ep
from ep_simt.bits import unsigned
from ep_simt.elements import ELEMENTS
from ep_simt.reductions.body import Fold, Lens, Reduction, bits_of_infinity, every_bit

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("reductions/order.h", "families/arg_reduce/place.h")


class _ArgReduce(Reduction):
    descriptor = ArgReduce
    is_numbered = True

    def lens(self, descriptor: ArgReduce) -> Lens:
        dtype = descriptor.x.dtype
        kind, every = ep.dtype(dtype).kind, every_bit(dtype)
        flip = (every if descriptor.op == "min" else 0) ^ ((every >> 1) + 1 if kind == "i" else 0)
        return Lens(bits_of_infinity(dtype) if kind == "f" else every, flip)

    def fold(self, key: KernelKey, target: Target | None = None) -> Fold:
        del target
        dtype, out = key.dtypes
        bits, kind = unsigned(dtype), ep.dtype(dtype).kind
        parts = "u64" if bits == "u64" else "u32", "i64" if key.wide else "i32"
        words = (("EP_FLOATING", int(kind == "f")), ("EP_JOINS_FOUR", 1), ("EP_TAKES_ALONE", 1), ("EP_BITS", bits[1:]))
        read = "bool" if kind == "b" else bits
        return Fold(f"arg_reduce-{int(kind == 'f')}", _FILES, read, ELEMENTS[out], parts, words)


BODY: Final[Reduction] = _ArgReduce()
