"""Data for the rows of ArgReduce's cases about values, each made to show a fault of one kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_primitives.cases.data import TRUE_BYTES
from ep_primitives.elementwise.op import FLOATS, INTEGERS
from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_DTYPES
from ep_primitives.judging.reference import Array, array_dtype
from ep_primitives.reductions.data import positions, random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_primitives.cases.case import Profile

__all__ = ["CONTENTS", "Content"]

Rows = tuple[int, int]
_AWAY: Final = (1, 2, 3, 5, 8, 16, 17, 32, 64, 100, 512, 1024, 2048)
"""How far two equal elements are from each other: within and across vectors and blocks."""


@dataclass(frozen=True)
class Content:
    """Rows for both ops and some element types.

    rows  : from a generator, the op, the element type and (number, terms) to the rows
    shape : (number, terms)
    """

    name: str
    rows: Callable[[np.random.Generator, str, str, Rows], Array]
    dtypes: tuple[str, ...]
    shape: Rows
    profile: Profile = "quick"


def _end(op: str, dtype: str) -> float:
    """Return a number beyond all that `random` and `_middling` draw: the end of an integer type, or of a bool."""
    row, is_max = ep.dtype(dtype), op == "max"
    if row.kind == "b":
        return is_max
    return row.range[is_max] if row.kind in "iu" else (1000.0 if is_max else -1000.0)


def _middling(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Return rows of elements within 50 from 64, or of the bool that the op does not look for."""
    if dtype == "bool":
        return np.full(shape, op == "min")
    return rng.integers(14, 114, shape).astype(array_dtype(dtype))


def _any_bytes(rng: np.random.Generator, rows: Array) -> Array:
    """Return rows whose true bools are any byte but 0, so that the order of bytes is not theirs."""
    if rows.dtype != np.bool_:
        return rows
    return np.asarray(rows * rng.choice(np.array(TRUE_BYTES, np.uint8), rows.shape)).view(np.bool_)


def _ties(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Put the extreme element twice into each row, at many distances, and in half of them a third time."""
    rows, (number, terms) = _middling(rng, op, dtype, shape), shape
    away = [distance for distance in _AWAY if distance < terms]
    for row in range(number):
        distance = away[row % len(away)]
        first = int(rng.integers(0, terms - distance))
        third = int(rng.integers(first + distance, terms))
        rows[row, [first, first + distance, third if row % 2 else first]] = _end(op, dtype)
    return _any_bytes(rng, rows)


def _equal(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows of one element over and over, then rows in which the second half, or the last element, is better."""
    rows = np.repeat(_middling(rng, op, dtype, (shape[0], 1)), shape[1], axis=1)
    rows[1::3, shape[1] // 2 :] = _end(op, dtype)
    rows[2::3, -1] = _end(op, dtype)
    return _any_bytes(rng, rows)


def _ends(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows of the end that loses, with one that is better by 1, and rows of the end that wins from a place on."""
    low, high = ep.dtype(dtype).range
    loser, better = (low, low + 1) if op == "max" else (high, high - 1)
    rows = np.full(shape, loser, array_dtype(dtype))
    for row, place in enumerate(positions(rng, *shape)):
        if row % 4 == 1:
            rows[row, place:] = _end(op, dtype)
        elif row % 4:
            rows[row, place] = better
    return rows


def _nan(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Put in one NaN, several, NaN of either sign, and infinities before and after them."""
    rows, (number, terms) = random(rng, op, dtype, *shape), shape
    for row, place in enumerate(positions(rng, number, terms)):
        others = rng.integers(0, terms, 3)
        if row % 5 in {1, 2}:
            rows[row, others] = math.inf if row % 2 else -math.inf
        if row % 5 == 3:  # noqa: PLR2004 - several
            rows[row, others] = math.nan
        if row % 5:
            rows[row, place] = -math.nan if row % 2 else math.nan
    return rows


def _infinite(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows of nothing but the infinity that loses, with a number among them, and with the one that wins twice."""
    win = math.inf if op == "max" else -math.inf
    rows = np.full(shape, -win).astype(array_dtype(dtype))
    for row, place in enumerate(positions(rng, *shape)):
        if row % 4 == 1:
            rows[row, place] = 3.0
        elif row % 4 > 1:
            rows[row] = random(rng, op, dtype, 1, shape[1])[0]
            rows[row, [place, shape[1] - 1]] = win
    return rows


def _signed_zeros(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Put zeros of the losing sign before zeros of the other, among numbers that lose."""
    sign = -1.0 if op == "max" else 1.0
    rows = sign * rng.integers(1, 9, shape)
    for row, place in enumerate(positions(rng, *shape)):
        rows[row, rng.integers(place, shape[1], 5)] = -sign * 0.0
        rows[row, place] = sign * 0.0
    return rows.astype(array_dtype(dtype))


def _contents() -> Iterator[Content]:
    yield Content("ties", _ties, ARG_REDUCE_DTYPES, (26, 263))
    yield Content("ties-4099", _ties, ("bool", "int8", "int32", "float16", "float32", "float64"), (26, 4099))
    yield Content("equal", _equal, ARG_REDUCE_DTYPES, (24, 131))
    yield Content("ends", _ends, INTEGERS, (24, 131))
    yield Content("nan", _nan, FLOATS, (30, 131))
    yield Content("nan-4099", _nan, ("float32",), (30, 4099))
    yield Content("infinite", _infinite, FLOATS, (24, 131))
    yield Content("signed-zeros", _signed_zeros, FLOATS, (24, 131))
    yield Content("ties-70001", _ties, ("int8", "float32"), (26, 70001), profile="standard")


CONTENTS: Final = tuple(_contents())
"""All of them, in the order of the cases."""
