"""The definitions of the ops as NumPy functions on arrays that `reference.widened` gives.

Floating arguments are float64, so that a float32 result can be judged; integers are of their own type and wrap modulo
2^n, as NumPy's arrays do. Functions that cancel return (value, S) with S the sum of |terms| of the stated definition.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = [
    "div",
    "elu",
    "elu_backward",
    "gelu",
    "gelu_backward",
    "logical_not",
    "maximum",
    "minimum",
    "relu",
    "tanh_backward",
]


def relu(x: Array) -> Array:
    """Return 0 where x <= 0, else x: a NaN stays, and -0 becomes +0."""
    return np.where(x <= 0, np.zeros_like(x), x)


def gelu(x: Array) -> Array:
    """Return x * Phi(x) = 0.5 x erfc(-x / sqrt 2), with its limit -0 at -inf, where the product would be NaN."""
    from scipy.special import erfc  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    return np.where(x == -math.inf, -0.0, 0.5 * x * erfc(-x * math.sqrt(0.5)))


def elu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, else alpha (e^x - 1), without the cancellation that subtracting 1 has near 0."""
    return np.where(x > 0, x, np.float64(alpha) * np.expm1(np.where(x > 0, 0.0, x)))


def logical_not(x: Array) -> Array:
    """Return x == 0: a NaN is true, so its negation is false."""
    return np.asarray(x == 0)


def div(a: Array, b: Array) -> Array:
    """Return a / b; integers truncate towards zero, x / 0 is 0 and MIN / -1 is MIN."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    by = np.where(b == 0, np.ones_like(b), b)
    quotient = np.floor_divide(a, by)
    # The floor is one too low where the signs differ and a remainder is left. MIN // -1 wraps to MIN.
    quotient += (a - quotient * by != 0) & ((a < 0) != (by < 0))
    return np.where(b == 0, np.zeros_like(a), quotient)


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


def tanh_backward(dy: Array, y: Array) -> tuple[Array, Array]:
    """Return dy (1 - y^2) and S = |dy| (1 + y^2); the value as (1 - y)(1 + y), which does not cancel."""
    return dy * ((1 - y) * (1 + y)), np.abs(dy) * (1 + y * y)


def gelu_backward(dy: Array, x: Array) -> tuple[Array, Array]:
    """Return dy (0.5 + 0.5 erf(x / sqrt 2) + x phi(x)) and S, the sum of the three terms' sizes.

    phi is the normal density. At an infinite x the last term is its limit, 0.
    """
    from scipy.special import erf, erfc  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    tail = np.where(np.isinf(x), 0.0, x) * density
    value = 0.5 * erfc(-x * math.sqrt(0.5)) + tail
    size = 0.5 + 0.5 * np.abs(erf(x * math.sqrt(0.5))) + np.abs(tail)
    return dy * value, np.abs(dy) * size


def elu_backward(dy: Array, x: Array, alpha: float) -> Array:
    """Return dy where x > 0, else dy alpha e^x."""
    return np.where(x > 0, dy, dy * (np.float64(alpha) * np.exp(np.where(x > 0, 0.0, x))))
