"""How the operands of RmsLayerNorm's cases lie, by layout of the cell, what they hold, and what each case is about."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import MANY, Form
from ep_primitives.families.layer_norm.data import ROWS as LAYER_NORM_ROWS
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "ROWS", "Plan"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)
_ROWS: Final = (7, 65)
_NARROW: Final = ("float16", "bfloat16")
_SHAPES: Final = ((9, 1), (5, 2), (4, 17), (3, 513), (2, 4097), (261, 10))


def _halves(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of -1 and 1, in every second one half of them -5 and 5: with an epsilon of 3 the roots are 2 and 4."""
    steps = np.where(np.arange(number)[:, None] % 2, np.resize([-1.0, 1.0, -5.0, 5.0], n), np.resize([-1.0, 1.0], n))
    return np.asarray(rng.permuted(steps, axis=1)).astype(array_dtype(dtype))


def _special(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows as `_halves`, but two of three have a NaN, or an infinity: finite elements beside an infinity give 0."""
    rows = _halves(rng, dtype, number, n)
    for row, place in enumerate(rng.integers(0, n, number)):
        if row % 3:
            rows[row, place] = math.nan if row % 3 == 1 else math.inf if row % 2 else -math.inf
    return rows


def _same_sign(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of one number but for a few; every step of a running sum of its squares rounds to the same side."""
    rows = np.repeat(np.resize([math.pi / 2, math.sqrt(3.1), 1.3], number)[:, None], n, axis=1)
    rows[:, rng.integers(0, n, max(n // 64, 1))] += 1
    return rows.astype(array_dtype(dtype))


ROWS: Final[Mapping[str, Callable[[np.random.Generator, str, int, int], Array]]] = {
    **{name: LAYER_NORM_ROWS[name] for name in ("random", "small", "equal", "one-far")},
    "same-sign": _same_sign,
    "halves": _halves,
    "special": _special,
}
"""By name, from a generator, an element type and (number of rows, elements of each) to rows."""


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    x        : where it lies
    has_scale: True if scale is there
    forms    : layouts of other operands that are not dense
    contents : a name in ROWS
    exact    : True if the contents fix every bit
    inplace  : True if y lies where x does
    dtypes   : the element types that have the case; none named are all
    """

    name: str
    x: Form
    axis: int = -1
    has_scale: bool = True
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: str = "random"
    epsilon: float = 1e-5
    exact: bool = False
    inplace: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _plain(name: str, shape: tuple[int, ...], axis: int = -1, **more: Any) -> Plan:
    return Plan(name, Form(shape), axis, **more)


def _dense() -> Iterator[Plan]:
    yield _plain("rows", (7, 33))
    yield _plain("no-scale", (7, 33), has_scale=False)
    for shape in _SHAPES:
        yield _plain("x".join(map(str, shape)), shape)
    for shape in ((1, 262147), (70001, 3), (64, 4096)):
        yield _plain("x".join(map(str, shape)), shape, profile="standard")
    yield _plain("last-two", (4, 5, 33), 1)
    yield _plain("all", (6, 7, 5), 0)
    yield _plain("rank-16", _DEEP, 9)
    for contents, shape in (
        ("small", (12, 37)),
        ("equal", (12, 37)),
        ("one-far", (12, 131)),
        ("same-sign", (3, 16411)),
    ):
        yield _plain(contents, shape, contents=contents)
    yield _plain("epsilon-3", (12, 37), contents="small", epsilon=3.0)
    yield _plain("epsilon-1e-12", (12, 37), contents="small", epsilon=1e-12)
    for n in (8, 64, 1024):
        yield _plain(f"exact-{n}", (15, n), contents="halves", epsilon=3.0, exact=True)
    yield _plain("special-rows", (15, 8), contents="special", epsilon=3.0)
    yield _plain("special-rows-1024", (15, 1024), contents="special", epsilon=3.0, has_scale=False)


def _strided() -> Iterator[Plan]:
    turned, rows = Form((33, 17), (1, 33)), Form(_ROWS)
    yield Plan("transposed", turned)
    yield Plan("transposed-y", Form((33, 17)), forms={"y": turned})
    yield Plan("padded-rows", Form(_ROWS, (80, 1)), forms={"y": Form(_ROWS, (67, 1))})
    yield Plan("negative-strides", Form(_ROWS, (-65, -1), 454), forms={"y": Form(_ROWS, (70, -1), 64)})
    yield Plan("stride-0-rows", Form(_ROWS, (0, 1)))
    yield Plan("stride-0-columns", Form(_ROWS, (1, 0)))
    yield Plan("scale-apart", rows, forms={"scale": Form((65,), (-2,), 128)})
    yield Plan("scale-repeated", rows, forms={"scale": Form((65,), (0,))})
    yield Plan("rows-of-two", Form((5, 6, 11), (200, 20, 1)), 1, forms={"y": Form((5, 6, 11), (1, 55, 5))})
    yield Plan("rank-16", Form(_DEEP, tuple(reversed(dense_strides(tuple(reversed(_DEEP)))))), 6)
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), profile="large", dtypes=_NARROW)


def _inplace() -> Iterator[Plan]:
    yield _plain("x", (5, 131), inplace=True)
    yield _plain("x-alone", (5, 131), inplace=True, has_scale=False)
    yield Plan("x-transposed", Form((33, 17), (1, 33)), inplace=True)


def _offset() -> Iterator[Plan]:
    yield Plan("odd", Form((3, 131), None, 1), forms={"scale": Form((131,), None, 3), "y": Form((3, 131), None, 7)})
    yield Plan("shifted", Form(_ROWS), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-rows", (0, 5))
    yield _plain("rows-of-none", (5, 0))


def _rank0() -> Iterator[Plan]:
    yield _plain("one", ())


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
