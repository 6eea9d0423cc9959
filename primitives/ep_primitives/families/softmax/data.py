"""Data for the operands of the softmaxes' cases: rows, along the last axis, that show a fault of one kind each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.judging.reference import Array, array_dtype, limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rows = Callable[[np.random.Generator, str, tuple[int, ...]], Array]
    Pairs = Callable[[np.random.Generator, str, tuple[int, ...], bool], tuple[Array, Array]]

__all__ = ["GRADIENTS", "ROWS"]

_OVERFLOW: Final[Mapping[str, tuple[float, float]]] = {
    "float16": (11.0, 12.0),
    "bfloat16": (88.0, 90.0),
    "float32": (88.0, 90.0),
    "float64": (709.0, 711.0),
}
"""Where e^x leaves the range of each element type."""

_UNDERFLOW: Final[Mapping[str, tuple[float, float]]] = {
    "float16": (9.0, 18.0),
    "bfloat16": (86.0, 105.0),
    "float32": (86.0, 105.0),
    "float64": (707.0, 746.0),
}
"""Where e^-x is subnormal in each element type, and a little more."""

_FAR: Final = 1024.0
"""e^x overflows in every element type, e^-x vanishes."""

_BELOW: Final = (-0.875, -1.1875, -1.375)
"""Each e^x, added again and again in float32, is mostly rounded to one side."""


def _random(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Rows of different spread, some with one large share, some with many small ones."""
    rows = (*shape[:-1], 1)
    spread = rng.choice([0.5, 2.0, 8.0], rows)
    return np.asarray(rng.standard_normal(shape) * spread + rng.uniform(-3, 3, rows)).astype(array_dtype(dtype))


def _far_from_zero(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    sides = rng.permutation(np.resize([_FAR, -_FAR], math.prod(shape[:-1]))).reshape(*shape[:-1], 1)
    return np.asarray(8 * rng.standard_normal(shape) + sides).astype(array_dtype(dtype))


def _last_is_largest(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Put the largest at the end, in every second row so far above the others that e^x relative to one of them overflows."""
    values = rng.uniform(-4, 4, shape)
    last = rng.uniform(4, 6, math.prod(shape[:-1]))
    last[::2] = _FAR
    values[..., -1] = last.reshape(shape[:-1])
    return values.astype(array_dtype(dtype))


def _subnormal(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    values = -rng.uniform(*_UNDERFLOW[dtype], shape)
    np.put_along_axis(values, rng.integers(shape[-1], size=(*shape[:-1], 1)), 0.0, -1)
    return values.astype(array_dtype(dtype))


def _near_overflow(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    values = rng.uniform(*_OVERFLOW[dtype], shape).astype(array_dtype(dtype))
    return np.where(rng.random(shape) < 0.5, values, limits(dtype).min)  # noqa: PLR2004 - half of them


def _huge(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    largest = float(limits(dtype).max)
    some = [largest, largest, -largest, largest / 2, min(1e30, largest / 4), 1.0, 0.0, -0.0]
    return rng.choice(np.array(some), shape).astype(array_dtype(dtype))


def _same_sign(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """One largest element, and all the others equal: every rounding of a running sum errs to one side."""
    rows = math.prod(shape[:-1])
    values = np.broadcast_to(np.resize(_BELOW, rows).reshape(*shape[:-1], 1), shape).copy()
    values[..., int(rng.integers(shape[-1]))] = 0.0
    return values.astype(array_dtype(dtype))


def _shares(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Put one largest element at 2^k places of a row, which get 2^-k each, and negligible elements at the others."""
    return _far_below(rng, dtype, shape, 1 + int(math.log2(shape[-1])))


def _one_share(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Put the largest element at one place: its logarithm is 0; the others' logarithms are their distances from it."""
    return _far_below(rng, dtype, shape, 1)


def _far_below(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], counts: int) -> Array:
    rows = math.prod(shape[:-1])
    values = -rng.choice([1024.0, 1536.0, 2048.0], (rows, shape[-1]))
    for row, count in enumerate(rng.permutation(np.resize(np.arange(counts), rows))):
        values[row, rng.permutation(shape[-1])[: 2**count]] = 0.0
    values += rng.choice([0.0, 512.0, -512.0, 1024.0], (rows, 1))
    return values.reshape(shape).astype(array_dtype(dtype))


ROWS: Final[Mapping[str, Rows]] = {
    "random": _random,
    "far-from-zero": _far_from_zero,
    "last-is-largest": _last_is_largest,
    "subnormal": _subnormal,
    "near-overflow": _near_overflow,
    "huge": _huge,
    "same-sign": _same_sign,
    "exact": _shares,
    "one-share": _one_share,
}
"""The contents of x, by name."""


def _of_softmax(x: Array, *, is_log: bool) -> Array:
    wide = x.astype(np.float64)
    d = wide - wide.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(d)
    sums = e.sum(-1, keepdims=True, initial=np.finfo(np.float64).tiny)
    return np.asarray(d - np.log(sums) if is_log else e / sums).astype(x.dtype)


def _usual(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - one kind of function for all
    dy = (4 * rng.standard_normal(shape)).astype(array_dtype(dtype))
    return dy, _of_softmax(_random(rng, dtype, shape), is_log=is_log)


def _cancelling(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    """Make dy nearly one number in each row, so that it cancels against the sum of softmax."""
    row = rng.uniform(1, 2, (*shape[:-1], 1)) * rng.choice([1.0, -1.0], (*shape[:-1], 1))
    dy = (row * (1 + rng.choice([0.0, 2.0**-6], shape))).astype(array_dtype(dtype))
    return dy, _of_softmax(_random(rng, dtype, shape), is_log=is_log)


def _heavy_end(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    dy, _ = _usual(rng, dtype, shape, is_log)
    dy[..., -1] = dy.dtype.type(16)
    return dy, _of_softmax(_last_is_largest(rng, dtype, shape), is_log=is_log)


def _any_y(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    """Take y that no softmax gives: of either sign, and of any sum; logarithms of numbers as large as the type bears."""
    dy, _ = _usual(rng, dtype, shape, is_log)
    return dy, rng.uniform(-2, 40 if is_log and dtype != "float16" else 2, shape).astype(array_dtype(dtype))


def _steady(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    """Make all terms of each sum equal, but for one."""
    terms = np.exp(_same_sign(rng, dtype, shape).astype(np.float64))
    y = np.log(terms / shape[-1]) if is_log else np.full(shape, 2.0 ** -round(math.log2(shape[-1])))
    return terms.astype(array_dtype(dtype)), y.astype(array_dtype(dtype))


def _one_sign(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    """Make all terms of like size and of one sign, with mantissas that no rounding of a sum prefers."""
    dy, y = rng.uniform(0.5, 1, (2, *shape)).astype(array_dtype(dtype))
    return dy, -y if is_log else y


def _integers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], is_log: bool) -> tuple[Array, Array]:  # noqa: FBT001 - as above
    """Make dy of small integers and y of powers of two: products and sums are exact; e^y of a logarithm is 1 or 0."""
    dy = rng.integers(-3, 3, shape, endpoint=True).astype(array_dtype(dtype))
    y = rng.choice([0.0, -np.inf], shape) if is_log else np.exp2(-rng.integers(1, 4, shape))
    return dy, y.astype(array_dtype(dtype))


GRADIENTS: Final[Mapping[str, Pairs]] = {
    "random": _usual,
    "cancelling": _cancelling,
    "last-is-largest": _heavy_end,
    "any-y": _any_y,
    "same-sign": _steady,
    "one-sign": _one_sign,
    "exact": _integers,
}
"""The contents of dy and y, by name; y is from log_softmax if the last argument is true."""
