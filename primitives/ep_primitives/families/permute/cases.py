"""The cases of Permute: which dimensions change places, and how x and out lie."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.layout.spec import dense_strides

import ep
from ep import TensorSpec
from ep_primitives.cases.arrangement import DILATED, MANY, WINDOWS, Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.data import any_bits
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile
    from ep_primitives.families.permute.descriptor import Permute

__all__ = ["PLANS", "Plan", "cases", "planned_case"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)
_SWAP: Final = (1, 0)
# Rows and columns around the lengths of vectors, register tiles and blocks.
_MATRICES: Final = ((33, 17), (1, 257), (257, 1), (16, 16), (31, 64), (65, 63), (67, 515), (8, 1025))
# Rows so few that a kernel may take them side by side.
_FEW: Final = ((259, 2), (1027, 3), (3, 1027), (259, 4), (4, 259))
_STANDARD_MATRICES: Final = (
    (2, 3),
    (7, 9),
    (15, 33),
    (128, 128),
    (129, 255),
    (1025, 1027),
    (3, 65537),
    (65537, 5),
    (65537, 3),
)
_BYTES: Final = ("int8", "uint8")


@dataclass(frozen=True)
class Plan:
    """One case: out is dense, unless strides say more."""

    name: str
    x: Form
    permutation: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    shift: int = 0
    profile: Profile = "quick"
    is_bytes: bool = False


def cases(kind: type[Permute], dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a layout."""
    for plan in PLANS[layout]():
        if not plan.is_bytes or dtype in _BYTES:
            yield planned_case(kind, plan, dtype)


def planned_case(kind: type[Permute], plan: Plan, dtype: str) -> Case:
    """Return the case of a plan for an element type."""
    x = TensorSpec(dtype, *plan.x)
    shape = tuple(x.shape[axis] for axis in plan.permutation)
    descriptor = kind(x=x, out=TensorSpec(dtype, shape, plan.strides, plan.offset), permutation=plan.permutation)
    shift = plan.shift * ep.dtype(dtype).itemsize
    return Case(plan.name, descriptor, partial(_drawn, x), profile=plan.profile, shift=shift)


def _drawn(x: TensorSpec, rng: np.random.Generator) -> dict[str, Any]:
    distinct = tuple(extent if stride else 1 for extent, stride in zip(x.shape, x.strides, strict=True))
    values = any_bits(rng, x.dtype, distinct if x.size else x.shape)
    return {"x": settled(x, np.broadcast_to(values, x.shape))}


def _name(permutation: tuple[int, ...]) -> str:
    return "-".join(map(str, permutation))


def _dense() -> Iterator[Plan]:
    for shapes, profile in ((_MATRICES, "quick"), (_FEW, "quick"), (_STANDARD_MATRICES, "standard")):
        for rows, columns in shapes:
            yield Plan(f"{rows}x{columns}", Form((rows, columns)), _SWAP, profile=profile)  # type: ignore[arg-type]  # one of them
    yield Plan("rank-1", Form((257,)), (0,))
    for order in permutations(range(3)):
        yield Plan(f"rank-3-{_name(order)}", Form((7, 17, 19)), order)
        yield Plan(f"rank-3-long-{_name(order)}", Form((34, 66, 70)), order, profile="standard")
    for by in range(1, 4):
        order = tuple((axis + by) % 4 for axis in range(4))
        yield Plan(f"rotation-{_name(order)}", Form((3, 5, 9, 11)), order)
        yield Plan(f"ones-{_name(order)}", Form((1, 9, 1, 11)), order)
    yield Plan("ones-everywhere", Form((1, 1, 1)), (2, 0, 1))
    yield Plan("one-in-front", Form((1, 17, 9)), (1, 0, 2))
    yield Plan("one-behind", Form((9, 17, 1)), (2, 1, 0))
    yield Plan("short-rows", Form((64, 65, 3)), (1, 0, 2))
    yield Plan("image-to-planes", Form((2, 9, 37, 3)), (0, 3, 1, 2))
    yield Plan("reversal", Form((4, 5, 6, 7)), (3, 2, 1, 0))
    for number, order in enumerate(permutations(range(4))):
        yield Plan(
            f"rank-4-{_name(order)}", Form((3, 18, 5, 17)), order, profile="quick" if number % 4 == 1 else "standard"
        )
    yield Plan("rank-16-reversal", Form(_DEEP), tuple(range(15, -1, -1)))
    yield Plan("rank-16-rotation", Form(_DEEP), (*range(5, 16), *range(5)))
    yield Plan("rank-16-halves", Form((2,) * 16), (*range(1, 16, 2), *range(0, 16, 2)), profile="standard")


def _strided() -> Iterator[Plan]:
    rows, columns = 33, 65
    yield Plan("transposed-x", Form((rows, columns), (1, rows)), _SWAP)
    yield Plan("transposed-out", Form((rows, columns)), _SWAP, (1, columns))
    yield Plan("padded-rows", Form((rows, columns), (80, 1)), _SWAP, (47, 1))
    yield Plan("every-third", Form((rows, columns), (3 * columns, 3)), _SWAP, (2 * rows, 2))
    last = rows * columns - 1
    yield Plan("negative-x", Form((rows, columns), (-columns, -1), last), _SWAP)
    yield Plan("negative-rows", Form((rows, columns), (-columns, 1), (rows - 1) * columns), _SWAP)
    yield Plan("negative-columns", Form((rows, columns), (columns, -1), columns - 1), _SWAP)
    yield Plan("negative-out", Form((rows, columns)), _SWAP, (-rows, -1), last)
    yield Plan("negative-both", Form((rows, columns), (-columns, -1), last), _SWAP, (-rows, 1), (columns - 1) * rows)
    yield Plan("stride-0-rows", Form((rows, columns), (0, 1)), _SWAP)
    yield Plan("stride-0-columns", Form((rows, columns), (1, 0)), _SWAP)
    yield Plan("windows", Form((rows, columns), (1, 1)), _SWAP)
    yield Plan("windows-2d", WINDOWS, (2, 3, 0, 1))
    yield Plan("windows-2d-dilated", DILATED, (2, 3, 0, 1))
    yield Plan("one-of-many", Form((rows, 1), (7, 1)), _SWAP)
    box = Form((5, 18, 7, 19), (18 * 7 * 21, 7 * 21, 21, 1))
    for order in ((0, 2, 3, 1), (0, 3, 1, 2), (2, 0, 3, 1), (3, 1, 2, 0)):
        yield Plan(f"box-{_name(order)}", box, order)
    inside_out = dense_strides(_DEEP[::-1])[::-1]
    yield Plan("rank-16", Form(_DEEP, inside_out), (*range(5, 16), *range(5)))
    yield Plan("rank-16-identity", Form(_DEEP, inside_out), tuple(range(16)))
    backwards = tuple(-stride for stride in inside_out)
    yield Plan("rank-16-negative", Form(_DEEP, backwards, 2**5 * 9 - 1), tuple(range(15, -1, -1)))
    yield Plan("many", Form((MANY // 3 + 1, 3), (0, 1)), _SWAP, profile="large", is_bytes=True)
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), _SWAP, profile="large", is_bytes=True)


def _offset() -> Iterator[Plan]:
    yield Plan("odd", Form((33, 65), None, 1), _SWAP, None, 3)
    yield Plan("shifted", Form((33, 65)), _SWAP, shift=1)
    yield Plan("boxes", Form((9, 17, 7), (400, 20, 1), 67), (2, 0, 1), (9 * 20, 20, 1), 5, shift=3)


def _empty() -> Iterator[Plan]:
    yield Plan("inner-0", Form((3, 0, 5)), (2, 0, 1))
    yield Plan("size-0", Form((0,)), (0,))


def _rank0() -> Iterator[Plan]:
    yield Plan("one", Form(()), ())


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
