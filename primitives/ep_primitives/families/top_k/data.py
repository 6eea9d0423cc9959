"""Data for the rows of TopK's cases, each made to show a fault of one kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

import ep
from ep_primitives.cases.data import TRUE_BYTES, any_bits
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.top_k.descriptor import TOP_K_DTYPES
from ep_primitives.judging.reference import Array, array_dtype, limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CONTENTS", "Content"]

Rows = tuple[int, int]
_FEW: Final = 0.06
_SPREAD: Final = 20.0
_FEW_TRUTHS: Final = 8


class Content(NamedTuple):
    """Rows and the element types that have them; rows : from a generator, an op, an element type and (number, elements of each)."""

    rows: Callable[[np.random.Generator, str, str, Rows], Array]
    dtypes: tuple[str, ...] = TOP_K_DTYPES


def _random(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make elements of any bits, of floats without NaN; in a byte the ends are rare, and so is the better truth value."""
    row = ep.dtype(dtype)
    if row.kind == "b":
        return _truths(rng, op, shape)
    if row.itemsize == 1:
        low, high = row.range
        numbers = np.rint((low + high) / 2 + _SPREAD * rng.standard_normal(shape))
        return np.asarray(np.clip(numbers, low, high).astype(array_dtype(dtype)))
    rows = any_bits(rng, dtype, shape)
    if row.kind == "f":
        numbers = rng.standard_normal(shape).astype(array_dtype(dtype))
        rows = np.where(_is_nan(rows), numbers, rows)
    return np.asarray(rows)


def _truths(rng: np.random.Generator, op: str, shape: Rows) -> Array:
    """Make rows with about eight of the better truth value at most, an eighth of short rows, any byte but 0 being true.

    One row ends with it, so that rows of equal elements, of which an input of stride 0 keeps the last alone, do not all agree.
    """
    is_better = rng.random(shape) < rng.uniform(0, _FEW_TRUTHS / max(64, shape[1]), (shape[0], 1))
    is_better[rng.integers(shape[0]) if shape[0] else slice(0), -1:] = True
    is_true = is_better == (op == "largest")
    return np.where(is_true, rng.choice(np.array(TRUE_BYTES, np.uint8), shape), np.uint8(0)).view(np.bool_)


def _is_nan(rows: Array) -> Array:
    with np.errstate(invalid="ignore"):  # a signalling one
        return np.isnan(rows)


def _ties(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows of three numbers: half of them the best, up to 16, and none, so that ties are at every rank."""
    if dtype == "bool":
        return _truths(rng, op, shape)
    number, n = shape
    better = 1 if op == "largest" else -1
    rows = rng.choice([0, 1, 1], shape)
    for row in range(number):
        count = (n // 2, int(rng.integers(1, min(n, 16) + 1)), 0)[row % 3]
        rows[row, rng.permutation(n)[:count]] = 2
    return np.asarray((4 + better * rows).astype(array_dtype(dtype)))


def _ends(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows with a few ends of the element type and their neighbours, of floats infinities too, among others."""
    kind = ep.dtype(dtype).kind
    rows = _random(rng, op, dtype, shape)
    if kind == "b":
        return rows
    if kind == "f":
        largest = float(limits(dtype).max)
        ends = np.array([math.inf, -math.inf, largest, -largest, 0.0, 1.0]).astype(array_dtype(dtype))
    else:
        low, high = ep.dtype(dtype).range
        ends = np.array([low, low + 1, high, high - 1, 0], array_dtype(dtype))
    return np.where(rng.random(shape) < _FEW, rng.choice(ends, shape), rows)


def _rising(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Sort rows, in which each element is better, or none, than those before."""
    return np.sort(_random(rng, op, dtype, shape), axis=1)


def _falling(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    return _rising(rng, op, dtype, shape)[:, ::-1].copy()


def _nan(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """NaN of any payload and sign: none, one, a few and more than are asked for, beside infinities."""
    rows = _random(rng, op, dtype, shape)
    payloads = any_bits(rng, dtype, (64, 64)).reshape(-1)
    payloads = payloads[_is_nan(payloads)]
    for row in range(1, shape[0]):
        count = (1, 3, shape[1] // 2, shape[1] - 2)[row % 4]
        places = rng.permutation(shape[1])
        rows[row, places[:count]] = rng.choice(payloads, count)
        rows[row, places[count : count + 1]] = math.inf if row % 8 > 3 else -math.inf  # noqa: PLR2004 - half of them
    return rows


def _signed_zeros(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Zeros of both signs, more than k, after a few better numbers."""
    rows = rng.choice([0.0, -0.0], shape)
    better, worse = (2.0, -2.0) if op == "largest" else (-2.0, 2.0)
    dice = rng.random(shape)
    return np.asarray(np.where(dice < 0.1, better, np.where(dice > 0.9, worse, rows)).astype(array_dtype(dtype)))  # noqa: PLR2004 - a tenth each


CONTENTS: Final[Mapping[str, Content]] = {
    "random": Content(_random),
    "ties": Content(_ties),
    "ends": Content(_ends),
    "rising": Content(_rising),
    "falling": Content(_falling),
    "nan": Content(_nan, FLOATS),
    "signed-zeros": Content(_signed_zeros, FLOATS),
}
"""By name."""
