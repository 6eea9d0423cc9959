"""The arithmetic of two operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ep_primitives.elementwise.formulas.extended import extended

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["maximum", "minimum", "power"]


def maximum(a: Array, b: Array) -> Array:
    """Return the larger one; a NaN on either side wins, and +0 is larger than -0."""
    if a.dtype.kind != "f":
        return np.asarray(np.maximum(a, b))
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller one; a NaN on either side wins, and -0 is smaller than +0."""
    if a.dtype.kind != "f":
        return np.asarray(np.minimum(a, b))
    return -maximum(-a, -b)


@extended
def power(a: Array, b: Array) -> Array | tuple[Array, Array]:
    """Return a^b: of integers modulo 2^n, of floats as C's pow, of complex numbers exp(b log a) with S = |a^b| (1 + |b log a|).

    An integer to a negative exponent is its reciprocal truncated, 1 or -1 or 0. A complex 0^b is 1 where b is 0, 0 where
    the real part of b is positive, and else NaN.
    """
    if a.dtype.kind in "iu":
        return _integer_power(a, b)
    if a.dtype.kind == "f":
        # np.power takes the square root where one number 0.5 is the exponent, which differs at -inf and -0.
        # Times 1: C libraries let 1^NaN be NaN where it is a signalling one, which multiplication makes quiet.
        return np.asarray(np.float_power(a * 1.0, b * 1.0))
    exponent = b * np.log(a)
    value = np.select([b == 0, (a == 0) & (b.real > 0), a == 0], [1, 0, np.nan], np.exp(exponent))
    return value, np.abs(value) * (1 + np.abs(exponent))


def _integer_power(a: Array, b: Array) -> Array:
    base, exponent = np.broadcast_arrays(a, b)
    is_negative = exponent < 0
    left = np.where(is_negative, 0, exponent).astype(exponent.dtype)
    factor, value = base.copy(), np.ones_like(base)
    while left.any():
        value = np.where(left & 1, value * factor, value)
        factor, left = factor * factor, left >> 1
    sign = np.where(exponent & 1, base, base * base)
    return np.where(is_negative, np.where((base == 1) | (base == -1), sign, np.zeros_like(base)), value)
