"""ArgReduce: the order of elements, and the type of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import ArgReduce

from ep_simt.elements import ELEMENTS, kind_of
from ep_simt.reductions.body import Fold, Reduction

if TYPE_CHECKING:
    from ep.work.key import KernelKey

__all__ = ["BODY"]

_FILES: Final = ("reductions/order.h", "families/arg_reduce/place.h")


class _ArgReduce(Reduction):
    descriptor = ArgReduce

    def fold(self, key: KernelKey) -> Fold:
        place = "i64" if key.wide else "i32"
        words = {"EP_SEEKS_LEAST": int(key.op == "min"), "EP_JOINS_FOUR": 1}
        return Fold(f"arg_reduce-{key.op}", _FILES, (_order(ELEMENTS[key.dtypes[0]]), place), tuple(words.items()))


BODY: Final[Reduction] = _ArgReduce()


def _order(element: str) -> str:
    """Return the integer type that has the order of an element type, and 32 bits at least."""
    if kind_of(element) == "FLOATING":
        return "i64" if element == "f64" else "i32"
    if kind_of(element) == "BOOLEAN":
        return "i32"
    return f"{element[0]}{max(32, int(element[1:]))}"
