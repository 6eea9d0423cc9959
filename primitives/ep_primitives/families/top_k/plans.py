"""How the operands of TopK's cases lie, by layout of the cell, how many elements are asked for, and what each case is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep import TensorSpec
from ep_primitives.cases.arrangement import MANY, WINDOWS, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)


@dataclass(frozen=True)
class Plan:
    """One case of either op.

    x         : where it lies
    forms     : where values and indices lie that are not dense
    contents  : name in CONTENTS
    is_usual  : True if every cell has the case, else only those of chosen ops and element types
    is_bytes  : True if only element types of one byte are worth the memory it takes
    """

    name: str
    x: Form
    k: int
    axis: int = -1
    is_sorted: bool = True
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: str = "random"
    is_usual: bool = False
    is_bytes: bool = False
    profile: Profile = "quick"
    shift: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of values and indices."""
        shape = self.x.shape
        place = self.axis % max(len(shape), 1)
        return (*shape[:place], self.k, *shape[place + 1 :]) if shape else ()

    def specs(self, dtype: str) -> dict[str, TensorSpec]:
        """Return all operands for an element type of x."""
        values, indices = (self.forms.get(name, Form(self.shape)) for name in ("values", "indices"))
        return {
            "x": TensorSpec(dtype, *self.x),
            "values": TensorSpec(dtype, *values),
            "indices": TensorSpec("int64", *indices),
        }


def _plain(name: str, shape: tuple[int, ...], k: int, axis: int = -1, **more: Any) -> Plan:
    return Plan(name, Form(shape), k, axis, **more)


def _dense() -> Iterator[Plan]:
    yield _plain("rows", (13, 131), 7, is_usual=True)
    yield _plain("unsorted", (13, 131), 29, is_sorted=False, is_usual=True)
    yield _plain("ties", (26, 131), 40, contents="ties", is_usual=True)
    yield _plain("ends", (24, 67), 5, contents="ends", is_usual=True)
    for n, k in ((1, 1), (17, 17), (64, 63), (257, 1), (1025, 1024), (4099, 300)):
        yield _plain(f"{k}-of-{n}", (5, n), k)
    yield _plain("ties-long", (7, 4099), 33, contents="ties")
    yield _plain("ties-all", (7, 259), 259, contents="ties")
    yield _plain("ties-unsorted", (12, 131), 40, is_sorted=False, contents="ties")
    yield _plain("columns", (131, 19), 9, 0)
    yield _plain("middle", (3, 67, 5), 6, 1)
    yield _plain("rank-16", _DEEP, 2, 2)
    yield _plain("many-rows", (7001, 5), 2)
    yield _plain("9-of-16411", (3, 16411), 9)
    yield _plain("rising", (4, 1025), 9, contents="rising")
    yield _plain("falling", (4, 1025), 9, contents="falling")
    yield _plain("nan", (30, 131), 24, contents="nan")
    yield _plain("nan-long", (8, 2053), 11, contents="nan")
    yield _plain("signed-zeros", (24, 131), 50, contents="signed-zeros")
    yield _plain("9-of-1000003", (1, 1000003), 9, profile="standard")
    yield _plain("half-of-70001", (3, 70001), 35000, contents="ties", profile="standard")


def _strided() -> Iterator[Plan]:
    yield Plan("transposed", Form((33, 17), (1, 33)), 5, is_usual=True)
    yield Plan("negative", Form((13, 65), (-65, -1), 13 * 65 - 1), 6)
    yield Plan(
        "padded", Form((13, 65), (80, 1)), 6, forms={"values": Form((13, 6), (9, 1)), "indices": Form((13, 6), (7, 1))}
    )
    outputs = {"values": Form((9, 6), (-1, 9), 8), "indices": Form((9, 6), (11, -2), 10)}
    yield Plan("outputs-apart", Form((9, 65)), 6, forms=outputs)
    yield Plan("windows", Form((13, 65), (1, 1)), 6, is_usual=True)
    yield Plan("windows-2d", WINDOWS, 2, 1)
    yield Plan("stride-0-rows", Form((13, 65), (0, 1)), 6)
    yield Plan("stride-0-row", Form((13, 65), (1, 0)), 6)
    yield Plan("permuted", Form((7, 9, 11), (9, 1, 63)), 4, 1)
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), 5, is_bytes=True, profile="large")


def _offset() -> Iterator[Plan]:
    odd = {"values": Form((13, 6), None, 5), "indices": Form((13, 6), None, 3)}
    yield Plan("odd", Form((13, 65), None, 1), 6, forms=odd, is_usual=True)
    yield Plan("columns", Form((65, 37), (40, 1), 7), 6, 0, shift=1)


def _empty() -> Iterator[Plan]:
    yield _plain("none-of-5", (13, 5), 0, is_usual=True)
    yield _plain("no-rows", (0, 13), 3)
    yield _plain("none-of-none", (3, 0), 0)


def _rank0() -> Iterator[Plan]:
    yield Plan("one", Form(()), 1, is_usual=True)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
