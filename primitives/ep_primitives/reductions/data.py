"""Data for the rows of reductions: random elements; each op's results differ from row to row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.cases.data import TRUE_BYTES
from ep_primitives.families.matmul import data as matmul_data
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["folded", "positions", "random", "spread"]

_HALF: Final = 0.5
_PRODUCT: Final = 4.0
_SPREAD: Final = 20.0
_ENDS: Final = 100.0


def folded(rows: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """Return rows, (number, terms), as a tensor of a shape with the rows' elements along the axes."""
    order = [*(axis for axis in range(len(shape)) if axis not in axes), *axes]
    long = rows.reshape([shape[axis] for axis in order])
    return np.ascontiguousarray(np.transpose(long, np.argsort(order))).reshape(shape)


def positions(rng: np.random.Generator, number: int, terms: int) -> Array:
    """Return a place in each row: the first, the last and the middle one in turn, between random ones."""
    places = rng.integers(0, max(terms, 1), number)
    for turn, place in enumerate((0, terms - 1, terms // 2)):
        places[2 * turn + 1 :: 6] = max(place, 0)
    return places


def spread(x: TensorSpec, axes: tuple[int, ...], op: str, rng: np.random.Generator) -> Array:
    """Return the elements of x for an op over its axes; where a stride is 0 the same ones, drawn once.

    Factors that repeat are roots, so that their product keeps its digits.
    """
    distinct = tuple(extent if stride else min(extent, 1) for extent, stride in zip(x.shape, x.strides, strict=True))
    terms = math.prod(distinct[axis] for axis in axes)
    number = math.prod(extent for axis, extent in enumerate(distinct) if axis not in axes)
    rows = random(rng, op, x.dtype, number, terms)
    times = math.prod(x.shape[axis] for axis in axes) // max(terms, 1)
    if op == "prod" and times > 1 and rows.dtype.kind not in "biu":
        rows = np.asarray((rows / np.abs(rows) * np.abs(rows) ** (1 / times)).astype(rows.dtype))
    return settled(x, np.broadcast_to(folded(rows, distinct, axes), x.shape))


def random(rng: np.random.Generator, op: str, dtype: str, number: int, terms: int) -> Array:
    """Return rows, (number, terms), for an op of either family: its result for each is finite and another number."""
    shape, kind = (number, terms), ep.dtype(dtype).kind
    if op in {"any", "all"} or (kind == "b" and op in {"max", "min"}):
        return _truths(rng, dtype, shape, is_any=op in {"any", "max"})
    if kind == "b":
        return _bools(rng, shape)
    if op in {"max", "min"}:
        return _extremes(rng, dtype, shape, is_max=op == "max")
    if op == "norm_inf":
        return _sizes(rng, dtype, shape)
    if op == "prod":
        return _factors(rng, dtype, shape)
    if op == "log_sum_exp":
        middle = rng.uniform(-_SPREAD, _SPREAD, (number, 1))
        return np.asarray((middle + 3 * rng.standard_normal(shape)).astype(array_dtype(dtype)))
    return matmul_data.random(rng, dtype, shape)


def _truths(rng: np.random.Generator, dtype: str, shape: tuple[int, int], *, is_any: bool) -> Array:
    """Return rows of zeros, half of them with one other element; for `all` the other way round."""
    number, terms = shape
    zeros, others = np.zeros(shape, array_dtype(dtype)), _not_zero(rng, dtype, shape)
    if ep.dtype(dtype).kind in "fc":
        zeros[rng.random(shape) < _HALF] *= -1
    rows, single = (zeros, others) if is_any else (others, zeros)
    if terms:
        chosen = rng.permutation(number)[: (number + 1) // 2]
        places = positions(rng, number, terms)[chosen]
        rows[chosen, places] = single[chosen, places]
    return rows


def _not_zero(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> Array:
    """Return elements that are not 0: of a bool any byte, of an integer one bit, of a complex number one part."""
    row, into = ep.dtype(dtype), array_dtype(dtype)
    if row.kind == "b":
        return rng.choice(np.array(TRUE_BYTES, np.uint8), shape).view(np.bool_)
    if row.kind in "iu":
        return np.asarray((np.uint64(1) << rng.integers(0, 8 * row.itemsize, shape, dtype=np.uint64)).astype(into))
    part = rng.choice(np.array([1.0, -1.0, np.nan, np.inf, 2.0**-24, 0.25]), shape)
    if row.kind == "f":
        return np.asarray(part.astype(into))
    values: Array = np.zeros(shape, into)
    in_real = rng.random(shape) < _HALF
    values.real, values.imag = np.where(in_real, part, 0), np.where(in_real, 0, part)
    return values


def _bools(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return bools, any non-zero byte being true, of which each row has another share."""
    truth = rng.choice(np.array(TRUE_BYTES, np.uint8), shape)
    return np.where(rng.random(shape) < rng.random((shape[0], 1)), truth, np.uint8(0)).view(np.bool_)


def _extremes(rng: np.random.Generator, dtype: str, shape: tuple[int, int], *, is_max: bool) -> Array:
    """Return rows that end at another number each, which stands at a chosen place; half the rows have one sign."""
    number, terms = shape
    into = array_dtype(dtype)
    row = ep.dtype(dtype)
    low, high = row.range if row.kind in "iu" else (-_ENDS, _ENDS)

    def draw(first: Any, last: Any, size: tuple[int, int]) -> Array:
        if row.kind in "iu":
            return np.asarray(rng.integers(first, last, size, dtype=into, endpoint=True))
        return np.asarray(rng.uniform(first, last, size).astype(into))

    ends = draw(low, high, (number, 1))
    wide = ends if row.kind in "iu" else ends.astype(np.float64)
    rows = draw(low, wide, shape) if is_max else draw(wide, high, shape)
    if terms:
        rows[np.arange(number), positions(rng, number, terms)] = ends[:, 0]
    return rows


def _sizes(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> Array:
    """Return rows of another size each, with the largest modulus at a chosen place."""
    number, terms = shape
    rows = matmul_data.random(rng, dtype, shape) * np.exp2(rng.uniform(-4, 4, (number, 1)))
    if terms:
        rows[np.arange(number), positions(rng, number, terms)] *= 16
    return np.asarray(rows.astype(array_dtype(dtype)))


def _factors(rng: np.random.Generator, dtype: str, shape: tuple[int, int]) -> Array:
    """Return factors with a product that keeps its digits: odd integers, or numbers around 1 of any sign or phase."""
    row, into = ep.dtype(dtype), array_dtype(dtype)
    if row.kind in "iu":
        low, high = row.range
        return np.asarray(rng.integers(low, high, shape, dtype=into, endpoint=True) | into.type(1))
    width = min(1.0, _PRODUCT / math.sqrt(max(shape[1], 1)))
    size = np.exp2(rng.uniform(-width, width, shape))
    if row.kind == "c":
        return np.asarray((size * np.exp(2j * math.pi * rng.random(shape))).astype(into))
    return np.asarray((size * rng.choice([-1.0, 1.0], shape)).astype(into))
