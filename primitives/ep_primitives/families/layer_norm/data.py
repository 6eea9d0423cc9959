"""Data for the rows of LayerNorm's cases, each made to show a fault of one kind, and scales and biases for them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rows = Callable[[np.random.Generator, str, int, int], Array]
    Columns = Callable[[np.random.Generator, str, int], tuple[Array, Array]]

__all__ = ["AFFINES", "ROWS"]

_FAR: Final[Mapping[str, tuple[float, float]]] = {
    "float16": (1024.0, 1.0),
    "bfloat16": (4096.0, 32.0),
    "float32": (2048.0, 0.25),
    "float64": (2.0**27, 0.25),
}
"""By element type a number and a step from it, both exact, such that the square of the number absorbs the step's."""

_LEANING: Final = (0.875, 1.1875, 1.375)
"""Each, added again and again in a 16-bit or 32-bit type, is rounded to one side."""


def _random(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of another size and another middle each."""
    size = np.exp2(rng.uniform(-3, 3, (number, 1)))
    middle = size * rng.uniform(-3, 3, (number, 1))
    return np.asarray(size * rng.standard_normal((number, n)) + middle).astype(array_dtype(dtype))


def _small(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows with variances on both sides of the usual epsilon."""
    size = np.exp2(np.linspace(-11, 1, number))[:, None]
    return np.asarray(size * rng.standard_normal((number, n))).astype(array_dtype(dtype))


def _far_from_zero(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows that lie close together and far from 0, of either sign: their squares' mean has no digit of the variance."""
    far, step = _FAR[dtype]
    rows = far + step * rng.integers(-3, 4, (number, n))
    return np.asarray(rows * rng.choice([-1.0, 1.0], (number, 1))).astype(array_dtype(dtype))


def _equal(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of one element over and over, of any size, between random ones: the variance is 0, and must not be below."""
    rows = _random(rng, dtype, number, n)
    rows[::2] = rng.uniform(-1000, 1000, (len(rows[::2]), 1)).astype(rows.dtype)
    return rows


def _same_sign(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of one number but for a few: every rounding of a running sum errs to one side."""
    rows = np.repeat(np.resize(_LEANING, number)[:, None], n, axis=1)
    rows[:, rng.integers(0, n, max(n // 64, 1))] += 1 + np.arange(number)[:, None] % 3
    return rows.astype(array_dtype(dtype))


def _one_far(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows with one element far from the others, at any place."""
    rows = rng.standard_normal((number, n))
    rows[np.arange(number), rng.integers(0, n, number)] += rng.choice([-500.0, 500.0], number)
    return rows.astype(array_dtype(dtype))


def _halves(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows of as many c - 1 as c + 1, c an integer: the variance is 1, and with an epsilon of 3 the reciprocal root 1/2.

    In every second row half of them are c - 5 and c + 5: that makes 13, and 1/4.
    """
    steps = np.where(np.arange(number)[:, None] % 2, np.resize([-1.0, 1.0, -5.0, 5.0], n), np.resize([-1.0, 1.0], n))
    return np.asarray(rng.permuted(steps, axis=1) + rng.integers(-6, 7, (number, 1))).astype(array_dtype(dtype))


def _special(rng: np.random.Generator, dtype: str, number: int, n: int) -> Array:
    """Rows as `_halves`, of which all but each fifth hold NaN, an infinity, or both infinities."""
    rows = _halves(rng, dtype, number, n)
    for row, place in enumerate(rng.integers(0, n, number)):
        other = (place + 1 + row) % n
        match row % 5:
            case 1:
                rows[row, place] = math.nan
            case 2:
                rows[row, place] = math.inf if row % 2 else -math.inf
            case 3:
                rows[row, [place, other]] = math.inf, -math.inf
            case 4:
                rows[row, [place, other]] = math.nan, math.inf
    return rows


ROWS: Final[Mapping[str, Rows]] = {
    "random": _random,
    "small": _small,
    "far-from-zero": _far_from_zero,
    "equal": _equal,
    "same-sign": _same_sign,
    "one-far": _one_far,
    "halves": _halves,
    "special": _special,
}
"""By name, from a generator, an element type and (number of rows, elements of each) to rows."""


def _usual(rng: np.random.Generator, dtype: str, n: int) -> tuple[Array, Array]:
    scale = rng.uniform(0.5, 2, n) * rng.choice([-1.0, 1.0], n)
    return _stored(dtype, scale, rng.uniform(-1, 1, n))


def _integral(rng: np.random.Generator, dtype: str, n: int) -> tuple[Array, Array]:
    """Powers of two, and numbers that no element of the row absorbs and whose sums with them are not 0."""
    return _stored(dtype, rng.choice([-2.0, -1.0, 1.0, 2.0, 4.0], n), rng.choice([-7.0, -6.0, 3.0, 8.0, 0.25], n))


def _not_finite(rng: np.random.Generator, dtype: str, n: int) -> tuple[Array, Array]:
    """Zeros, NaN and infinities in some columns of either."""
    scale, bias = _usual(rng, dtype, n)
    places = rng.permutation(n)[:6]
    scale[places[:4]] = [0.0, math.nan, math.inf, -math.inf]
    bias[places[4:]] = [math.nan, -math.inf]
    return scale, bias


def _stored(dtype: str, *columns: Array) -> tuple[Array, Array]:
    scale, bias = (column.astype(array_dtype(dtype)) for column in columns)
    return scale, bias


AFFINES: Final[Mapping[str, Columns]] = {"usual": _usual, "integral": _integral, "not-finite": _not_finite}
"""By name, from a generator, an element type and the elements of a row to scale and bias."""
