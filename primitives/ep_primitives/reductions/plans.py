"""How x and out of reductions lie, by layout of the cell, and which axes go: written once for Reduce and ArgReduce."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from ep.layout.spec import dense_strides

from ep import TensorSpec
from ep_primitives.cases.arrangement import DILATED, MANY, WINDOWS, Form
from ep_primitives.reductions.dimensions import reduced_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["DEEP", "PLANS", "Plan"]

_LENGTHS: Final = (1, 2, 4, 7, 8, 15, 16, 31, 32, 33, 64, 65, 255, 256, 257, 4097)
_USUAL_LENGTHS: Final = (17, 1025)
_CUBE: Final = (3, 5, 2, 11)
DEEP: Final = (2, 1, 3, 2, 1, 2, 1, 3, 2, 1, 1, 2, 1, 2, 1, 2)


@dataclass(frozen=True)
class Plan:
    """One case for any op and element types: where x and out lie, and which axes of x go.

    out       : None is dense
    is_usual  : True if every cell has the case, else only cells of chosen ops and element types
    shift     : elements that memory views start after an aligned place
    is_long   : True for more than 2^31 elements, of which few element types are worth the memory that it takes
    """

    name: str
    x: Form
    axes: tuple[int, ...]
    keepdims: bool = False
    out: tuple[tuple[int, ...], int] | None = None
    is_usual: bool = False
    profile: Profile = "quick"
    shift: int = 0
    is_long: bool = False

    def specs(self, dtype: str, out: str) -> tuple[TensorSpec, TensorSpec]:
        """Return x and out of these element types."""
        shape = reduced_shape(self.x.shape, self.axes, keepdims=self.keepdims)
        return TensorSpec(dtype, *self.x), TensorSpec(out, shape, *(self.out or ()))

    @property
    def rows(self) -> tuple[int, int]:
        """The number of rows, and of elements in each."""
        terms = math.prod(self.x.shape[axis] for axis in self.axes)
        return math.prod(reduced_shape(self.x.shape, self.axes, keepdims=False)), terms


def _dense() -> Iterator[Plan]:
    yield Plan("rows", Form((13, 257)), (1,), is_usual=True)
    yield Plan("columns", Form((259, 37)), (0,), is_usual=True)
    yield Plan("first-and-last", Form((9, 11, 17)), (0, 2), keepdims=True, is_usual=True)
    yield Plan("none", Form((5, 13)), (), is_usual=True)
    yield Plan("all", Form((7, 5, 9)), (0, 1, 2), is_usual=True)
    for length in _USUAL_LENGTHS:
        yield Plan(f"length-{length}", Form((11, length)), (1,), is_usual=True)
    for length in _LENGTHS:
        yield Plan(f"length-{length}", Form((11, length)), (1,))
    for length in (1, 2, 17, 1025, 4097):
        yield Plan(f"column-length-{length}", Form((length, 19)), (0,), keepdims=length == 17)  # noqa: PLR2004 - one of them
    for width in (1, 257, 1025):
        yield Plan(f"columns-{width}", Form((33, width)), (0,))
    yield Plan("middle", Form((5, 67, 9)), (1,))
    yield Plan("middle-of-one", Form((5, 67, 1)), (1,), keepdims=True)
    yield Plan("last-two", Form((17, 5, 33)), (1, 2))
    yield Plan("all-keepdims", Form((3, 41)), (0, 1), keepdims=True)
    yield Plan("all-4097", Form((4097,)), (0,))
    for count in range(1, 5):
        for axes in combinations(range(4), count):
            name = "".join(map(str, axes))
            yield Plan(f"rank-4-{name}", Form(_CUBE), axes, keepdims=count % 2 == 1)
    yield Plan("rank-5-alternate", Form((3, 4, 5, 2, 7)), (0, 2, 4))
    yield Plan("rank-6-alternate", Form((3, 4, 2, 2, 3, 5)), (1, 3, 5), keepdims=True)
    halves = {"even": range(0, 16, 2), "odd": range(1, 16, 2), "first": range(8), "last": range(8, 16)}
    for name, half in halves.items():
        yield Plan(f"rank-16-{name}", Form(DEEP), tuple(half), keepdims=name == "odd")
    yield Plan("rank-16-one", Form(DEEP), (7,))
    yield Plan("extents-1", Form((1, 13, 1, 17, 1)), (0, 3))
    yield Plan("only-extents-1", Form((1, 13, 1, 17, 1)), (0, 2, 4), keepdims=True)
    yield Plan("only-extent-1", Form((13, 1, 17)), (1,))
    yield Plan("many-rows", Form((70001, 5)), (1,))
    yield Plan("length-70001", Form((11, 70001)), (1,), profile="standard")
    yield Plan("column-length-70001", Form((70001, 11)), (0,), profile="standard")
    yield Plan("all-2100003", Form((2100003,)), (0,), profile="standard")
    yield Plan("longest", Form((MANY,)), (0,), profile="large", is_long=True)


def _strided() -> Iterator[Plan]:
    yield Plan("transposed", Form((33, 17), (1, 33)), (1,), is_usual=True)
    yield Plan("negative", Form((13, 65), (-65, -1), 13 * 65 - 1), (1,), is_usual=True)
    yield Plan("padded", Form((13, 65), (80, 1)), (1,), out=((3,), 0), is_usual=True)
    yield Plan("padded-columns", Form((65, 37), (40, 1)), (0,), keepdims=True, out=((0, 2), 0), is_usual=True)
    yield Plan("transposed-columns", Form((67, 35), (1, 67)), (0,))
    yield Plan("negative-out", Form((13, 65)), (1,), out=((-1,), 12))
    yield Plan("transposed-out", Form((9, 11, 13)), (1,), out=((1, 9), 0))
    yield Plan("stride-0-row", Form((13, 65), (1, 0)), (1,))
    yield Plan("stride-0-kept", Form((5, 13, 33), (0, 33, 1)), (2,))
    yield Plan("stride-0-inside", Form((13, 5, 33), (33, 0, 1)), (1, 2))
    yield Plan("stride-0-long", Form((11, 257), (1, 0)), (1,))
    yield Plan("windows", Form((13, 65), (1, 1)), (1,))
    yield Plan("every-third", Form((13, 65), (200, 3)), (1,), out=((-2,), 24))
    yield Plan("permuted", Form((7, 9, 11, 5), (5, 385, 35, 1)), (1, 3), out=((1, 7), 0))
    yield Plan("permuted-keepdims", Form((7, 9, 11, 5), (1, 385, 35, 7)), (0, 2), keepdims=True, out=((0, 1, 0, 9), 0))
    yield Plan("two-strides", Form((13, 9, 11), (200, 20, 1)), (1, 2))
    yield Plan("three-strides", Form((13, 5, 7, 3), (1000, 3, 16, 120)), (1, 2, 3))
    yield Plan("negative-and-not", Form((13, 9, 11), (99, -11, 1), 88), (1, 2))
    yield Plan("all-transposed", Form((17, 33), (1, 17)), (0, 1))
    yield Plan("all-permuted", Form((7, 9, 11), (1, 90, 8)), (0, 1, 2))
    yield Plan("all-padded", Form((17, 33), (40, 1)), (0, 1))
    outside_in = tuple(reversed(dense_strides(tuple(reversed(DEEP)))))
    yield Plan("rank-16", Form(DEEP, outside_in), tuple(range(0, 16, 2)))
    yield Plan("rank-16-one", Form(DEEP, outside_in), (7,), keepdims=True)
    yield Plan("none", Form((13, 17), (1, 13)), (), out=((19, 1), 0))
    yield Plan("longest-stride-0", Form((MANY,), (0,)), (0,), profile="large", is_long=True)
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), (0,), profile="large", is_long=True)
    yield Plan("windows-2d", WINDOWS, (2, 3), is_usual=True)
    yield Plan("windows-2d-dilated", DILATED, (2, 3))
    yield Plan("windows-2d-one-axis", WINDOWS, (2,), keepdims=True)
    planes = Form((2, 3, *WINDOWS.shape), (700, 211, 38, 2, 19, 1))
    yield Plan("windows-2d-of-planes", planes, (4, 5))


def _offset() -> Iterator[Plan]:
    yield Plan("odd", Form((13, 65), None, 1), (1,), out=((1,), 5), is_usual=True)
    yield Plan("blocks", Form((13, 65), (80, 1), 7), (1,), shift=1, is_usual=True)
    yield Plan("columns", Form((65, 37), None, 3), (0,), out=((1,), 1))
    yield Plan("backwards", Form((13, 65), (-70, -1), 13 * 70 + 3), (1,), shift=3)


def _empty() -> Iterator[Plan]:
    yield Plan("no-terms", Form((13, 0)), (1,), is_usual=True)
    yield Plan("no-rows", Form((0, 13)), (1,), is_usual=True)
    yield Plan("no-terms-inside", Form((3, 0, 5)), (0, 1), keepdims=True)
    yield Plan("no-terms-strided", Form((13, 0)), (1,), out=((-3,), 36))
    yield Plan("no-terms-all", Form((0,)), (0,))
    yield Plan("no-rows-of-none", Form((0, 0)), (0,))
    yield Plan("none", Form((0, 3)), ())
    yield Plan("rank-16-no-terms", Form((2, 1, 3, 0, *DEEP[4:])), (3, 7))


def _rank0() -> Iterator[Plan]:
    yield Plan("one", Form(()), (), is_usual=True)
    yield Plan("shifted", Form(()), (), shift=1, is_usual=True)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
