"""The gradients of the activations: dy times the slope at x, or the slope as a function of y = f(x).

Where a definition says 0 the result is +0 for any dy; a NaN x or y gives NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.elementwise.formulas.activation import (
    FAST_GELU_CUBE,
    FAST_GELU_SCALE,
    QUICK_GELU,
    SELU_ALPHA,
    SELU_SCALE,
    scaled,
)
from ep_primitives.elementwise.formulas.extended import extended
from ep_primitives.elementwise.formulas.math import sigmoid

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = [
    "celu_backward",
    "elu_backward",
    "fast_gelu_backward",
    "gelu_backward",
    "hard_shrink_backward",
    "hard_sigmoid_backward",
    "hard_swish_backward",
    "hard_tanh_backward",
    "identity_backward",
    "leaky_relu_backward",
    "mish_backward",
    "quick_gelu_backward",
    "relu_backward",
    "selu_backward",
    "silu_backward",
    "soft_plus_backward",
    "soft_sign_backward",
    "square_relu_backward",
    "tanh_backward",
    "threshold_backward",
]

Terms = tuple["Array", "Array"]
"""A value and S."""

_FAR: Final = 50.0
_HARD: Final = 3.0


def identity_backward(dy: Array, x: Array) -> Array:
    """Return dy."""
    return np.broadcast_arrays(dy, x)[0]


def relu_backward(dy: Array, x: Array) -> Array:
    """Return 0 where x <= 0, else dy; the same of y."""
    return _selected(x, [(x <= 0, 0.0)], dy)


def leaky_relu_backward(dy: Array, x: Array, alpha: float) -> Array:
    """Return dy where x > 0, else alpha dy."""
    return _selected(x, [(x > 0, dy)], np.float64(alpha) * dy)


def elu_backward(dy: Array, x: Array, alpha: float) -> Array:
    """Return dy where x > 0, else dy alpha e^x; a small alpha comes last, so that its product with e^x loses no digit."""
    power, factor = np.exp(np.where(x > 0, 0.0, x)), np.float64(alpha)
    return np.where(x > 0, dy, dy * power * factor if np.abs(factor) < 1 else dy * (factor * power))


def celu_backward(dy: Array, y: Array, alpha: float) -> Terms:
    """Return dy where y > 0, else dy (y / alpha + 1), and S = |dy| (|y / alpha| + 1)."""
    low = np.where(y > 0, 0.0, y)
    ratio = low / np.float64(alpha)
    far = dy * low / np.float64(alpha)  # where the quotient alone overflows
    value = np.where(np.isinf(ratio), far, dy * (ratio + 1))
    return value, np.where(np.isinf(ratio), np.abs(far), np.abs(dy) * (np.abs(ratio) + 1))


def selu_backward(dy: Array, x: Array) -> Array:
    """Return dy s where x > 0, else dy s a e^x, with selu's scale s and alpha a."""
    slope = SELU_ALPHA * np.exp(np.where(x > 0, 0.0, x))
    return np.asarray(dy * (SELU_SCALE * np.where(x > 0, 1.0, slope)))


def threshold_backward(dy: Array, x: Array, threshold: float) -> Array:
    """Return 0 where x <= threshold, else dy."""
    return _selected(x, [(x <= threshold, 0.0)], dy)


def hard_shrink_backward(dy: Array, y: Array, lambd: float) -> Array:  # noqa: ARG001 - y says all, as in OneFlow
    """Return 0 where y is 0, else dy; soft_shrink's is the same."""
    return _selected(y, [(y == 0, 0.0)], dy)


def hard_tanh_backward(dy: Array, y: Array, low: float, high: float) -> Array:
    """Return dy where low < y < high, else 0."""
    return _selected(y, [((y <= low) | (y >= high), 0.0)], dy)


def hard_sigmoid_backward(dy: Array, x: Array) -> Array:
    """Return dy / 6 where -3 < x < 3, else 0."""
    return _selected(x, [(np.abs(x) >= _HARD, 0.0)], dy / 6)


def hard_swish_backward(dy: Array, x: Array) -> Terms:
    """Return 0 where x <= -3, dy where x >= 3, else dy (x / 3 + 0.5) and S = |dy| (|x / 3| + 0.5)."""
    inside = np.clip(x, -_HARD, _HARD)
    value = dy * (2 * inside + _HARD) / 6
    return _selected(x, [(x <= -_HARD, 0.0), (x >= _HARD, dy)], value), np.abs(dy) * (np.abs(inside) / 3 + 0.5)


def square_relu_backward(dy: Array, x: Array) -> Array:
    """Return 2 dy x where x > 0, else 0."""
    return _selected(x, [(x <= 0, 0.0)], 2 * dy * x)


def soft_sign_backward(dy: Array, x: Array) -> Array:
    """Return dy / (1 + |x|)^2, divided twice so that no square overflows."""
    size = 1 + np.abs(x)
    return np.asarray(dy / size / size)


def soft_plus_backward(dy: Array, x: Array, beta: float, threshold: float) -> Terms:
    """Return dy where beta x is above threshold, else dy sigmoid(beta x), and S = |dy| sigmoid(z) (1 + |z| sigmoid(-z)), z = beta x.

    The product is rounded as beta is to meet the threshold. e^z comes as two roots, because it may be subnormal where dy is large.
    """
    z = np.float64(beta) * x
    root = np.exp(np.minimum(z, 0) / 2)
    value = np.where(scaled(x, beta) > threshold, dy, dy * root / (1 + np.exp(-np.abs(z))) * root)
    return value, np.abs(value) * (1 + np.where(np.isinf(z), 0.0, np.abs(z)) * sigmoid(-z))


def silu_backward(dy: Array, x: Array) -> Terms:
    """Return dy s (1 + x (1 - s)), s = sigmoid(x), and S = |dy| s (1 + |x| (1 - s)); dy and 0 at the infinities."""
    slope, size = _swish_slope(x)
    return dy * slope, np.abs(dy) * size


def quick_gelu_backward(dy: Array, x: Array) -> Terms:
    """Return dy s (1 + z (1 - s)), z = 1.702 x, s = sigmoid(z), and S = |dy| s (1 + |z| (1 - s))^2.

    S counts that the rounding of z, relative to s, is |z| (1 - s) times as large.
    """
    z = QUICK_GELU * x
    slope, size = _swish_slope(z)
    return dy * slope, np.abs(dy) * size * (1 + _finite(z) * sigmoid(-z))


def mish_backward(dy: Array, x: Array) -> Terms:
    """Return dy (t + x s (1 - t^2)), t = tanh(log(1 + e^x)), s = sigmoid(x), and S, the sum of the two terms' sizes.

    With n = e^-|x|, t and s (1 - t^2) are quotients of polynomials in n that neither overflow nor cancel.
    """
    n = np.exp(-np.abs(x))
    over = np.where(x > 0, 1 + 2 * n + 2 * n * n, 2 + 2 * n + n * n)
    slope = np.where(x > 0, 1 + 2 * n, n * (n + 2)) / over
    tail = np.where(x > 0, n, 1.0) * 4 * n * (1 + n) / (over * over)
    tail = np.where(np.isinf(x), 0.0, x) * tail
    return dy * (slope + tail), np.abs(dy) * (slope + np.abs(tail))


@extended
def tanh_backward(dy: Array, y: Array) -> Terms:
    """Return dy (1 - y^2) and S = |dy| (1 + y^2); the value as (1 - y)(1 + y), which does not cancel. Complex: dy conj(1 - y^2)."""
    slope = np.conj((1 - y) * (1 + y))
    return dy * slope, np.abs(dy) * (1 + np.abs(y) ** 2)


def gelu_backward(dy: Array, x: Array) -> Terms:
    """Return dy (0.5 + 0.5 erf(x / sqrt 2) + x phi(x)) and S, the sum of the three terms' sizes.

    phi is the normal density. At an infinite x the last term is its limit, 0.
    """
    from scipy.special import erf, erfc  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    tail = np.where(np.isinf(x), 0.0, x) * density
    value = 0.5 * erfc(-x * math.sqrt(0.5)) + tail
    size = 0.5 + 0.5 * np.abs(erf(x * math.sqrt(0.5))) + np.abs(tail)
    return dy * value, np.abs(dy) * size


def fast_gelu_backward(dy: Array, x: Array) -> Terms:
    """Return dy (0.5 (1 + t) + 0.5 x (1 - t^2) u'), t = tanh(u), u = c (x + d x^3), and S.

    S sums the sizes of 0.5, 0.5 t and the last term, of which nothing is left in any format where |x| > 50.
    """
    inside = np.clip(x, -_FAR, _FAR)
    u = FAST_GELU_SCALE * inside * (1 + FAST_GELU_CUBE * inside * inside)
    steepness = FAST_GELU_SCALE * (1 + 3 * FAST_GELU_CUBE * inside * inside)
    tail = 2 * inside * sigmoid(2 * u) * sigmoid(-2 * u) * steepness
    tail = np.where(np.abs(x) > _FAR, 0.0, tail)
    value = dy * (sigmoid(2 * u) + tail)
    return value, np.abs(dy) * (0.5 + 0.5 * np.abs(np.tanh(u)) + np.abs(tail))


def _selected(x: Array, choices: list[tuple[Array, Array | float]], otherwise: Array) -> Array:
    """Return the first choice that holds, else the last argument; NaN where x is NaN."""
    conditions, values = [np.isnan(x)], [np.asarray(math.nan)]
    for condition, value in choices:
        conditions.append(condition)
        values.append(np.asarray(value))
    shape = np.broadcast_shapes(x.shape, otherwise.shape)
    arrays = [np.broadcast_to(array, shape) for array in (*conditions, *values)]
    return np.select(arrays[: len(conditions)], arrays[len(conditions) :], np.broadcast_to(otherwise, shape))


def _swish_slope(z: Array) -> Terms:
    """Return s (1 + z (1 - s)), s = sigmoid(z), and the same of |z|."""
    tail = _finite(z) * sigmoid(-z)
    return sigmoid(z) * (1 + np.sign(z) * tail), sigmoid(z) * (1 + tail)


def _finite(z: Array) -> Array:
    return np.where(np.isinf(z), 0.0, np.abs(z))
