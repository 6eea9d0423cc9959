"""The gradients of the functions of one number: dy times the slope at x, for complex numbers dy conj(f'(x)).

Slopes are written as products that neither cancel nor, for any x, overflow on the way; the factors of complex ones are
made part by part, because 1 - z in NumPy loses the sign of a zero, which tells the side of a branch cut.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.elementwise.formulas.extended import extended
from ep_primitives.elementwise.formulas.math import digamma, trigamma

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.judging.reference import Array

__all__ = [
    "abs_backward",
    "acos_backward",
    "acosh_backward",
    "asin_backward",
    "asinh_backward",
    "atan_backward",
    "atanh_backward",
    "cos_backward",
    "cosh_backward",
    "digamma_backward",
    "erf_backward",
    "erfc_backward",
    "exp2_backward",
    "exp_backward",
    "lgamma_backward",
    "log1p_backward",
    "log2_backward",
    "log10_backward",
    "log_backward",
    "log_sigmoid_backward",
    "reciprocal_backward",
    "reciprocal_no_nan_backward",
    "rsqrt_backward",
    "sigmoid_backward_x",
    "sigmoid_backward_y",
    "sin_backward",
    "sinh_backward",
    "sqrt_backward",
    "square_backward",
    "tan_backward",
]

Terms = tuple["Array", "Array"]
"""A value and S."""

_LARGE: Final = 2.0**60
"""From here on 1 + x^2 is x^2 in float64."""


def abs_backward(dy: Array, x: Array) -> Array:
    """Return dy where x > 0, -dy where x < 0 and 0 at 0."""
    return np.select([np.isnan(x), x > 0, x < 0], [x, dy, -dy], 0.0)


@extended
def acos_backward(dy: Array, x: Array) -> Array:
    """Return -dy / sqrt(1 - x^2)."""
    return -asin_backward(dy, x)


@extended
def asin_backward(dy: Array, x: Array) -> Array:
    """Return dy / sqrt(1 - x^2) as 1 / (sqrt(1 - x) sqrt(1 + x))."""
    return np.asarray(dy / np.conj(np.sqrt(_one_minus(x)) * np.sqrt(_one_plus(x))))


@extended
def acosh_backward(dy: Array, x: Array) -> Array:
    """Return dy / sqrt(x^2 - 1) as 1 / (sqrt(x - 1) sqrt(x + 1)), NaN for a real x < 1."""
    return np.asarray(dy / np.conj(np.sqrt(_minus_one(x)) * np.sqrt(_one_plus(x))))


@extended
def asinh_backward(dy: Array, x: Array) -> Array:
    """Return dy / sqrt(1 + x^2); for a complex x as 1 / (sqrt(1 + ix) sqrt(1 - ix))."""
    if x.dtype.kind == "c":
        turned = _turned(x)
        return np.asarray(dy / np.conj(np.sqrt(_one_plus(turned)) * np.sqrt(_one_minus(turned))))
    return np.asarray(dy / np.hypot(1.0, x))


@extended
def atan_backward(dy: Array, x: Array) -> Array:
    """Return dy / (1 + x^2); for a complex x as 1 / ((1 + ix)(1 - ix)), for a large one dy / x / x."""
    if x.dtype.kind == "c":
        turned = _turned(x)
        return np.asarray(dy / np.conj(_one_plus(turned) * _one_minus(turned)))
    is_large = np.abs(x) > _LARGE
    near = np.where(is_large, 1.0, x)
    return np.where(is_large, dy / x / x, dy / (1 + near * near))


@extended
def atanh_backward(dy: Array, x: Array) -> Array:
    """Return dy / (1 - x^2) as 1 / ((1 - x)(1 + x))."""
    return np.asarray(dy / np.conj(_one_minus(x) * _one_plus(x)))


@extended
def cos_backward(dy: Array, x: Array) -> Array:
    """Return -dy sin x."""
    return -dy * np.conj(_libm(np.sin, x))


@extended
def sin_backward(dy: Array, x: Array) -> Array:
    """Return dy cos x."""
    return np.asarray(dy * np.conj(_libm(np.cos, x)))


@extended
def tan_backward(dy: Array, x: Array) -> Array:
    """Return dy / cos(x)^2."""
    cosine = np.conj(_libm(np.cos, x))
    return np.asarray(dy / (cosine * cosine))


@extended
def cosh_backward(dy: Array, x: Array) -> Array:
    """Return dy sinh x."""
    return np.asarray(dy * np.conj(np.sinh(x)))


@extended
def sinh_backward(dy: Array, x: Array) -> Array:
    """Return dy cosh x."""
    return np.asarray(dy * np.conj(np.cosh(x)))


def erf_backward(dy: Array, x: Array) -> Terms:
    """Return dy 2 / sqrt(pi) e^(-x^2) and S, its size times 1 + x^2, because the rounding of x^2 counts x^2 times."""
    value = dy * (2 / math.sqrt(math.pi) * np.exp(-x * x))
    return value, np.where(np.isinf(x), 0.0, np.abs(value) * (1 + x * x))


def erfc_backward(dy: Array, x: Array) -> Terms:
    """Return -dy 2 / sqrt(pi) e^(-x^2) and S as erf's."""
    return erf_backward(-dy, x)


@extended
def exp_backward(dy: Array, x: Array) -> Array:
    """Return dy e^x; expm1's is the same."""
    return np.asarray(dy * np.conj(np.exp(x)))


@extended
def exp2_backward(dy: Array, x: Array) -> Array:
    """Return dy 2^x log 2."""
    return np.asarray(dy * (np.conj(np.exp2(x)) * math.log(2)))


def lgamma_backward(dy: Array, x: Array) -> Terms:
    """Return dy digamma(x), and S as digamma's."""
    value, scale = digamma(x)
    return dy * value, np.abs(dy) * scale


def digamma_backward(dy: Array, x: Array) -> Array:
    """Return dy trigamma(x)."""
    return np.asarray(dy * trigamma(x))


@extended
def log_backward(dy: Array, x: Array) -> Array:
    """Return dy / x."""
    return np.asarray(dy / np.conj(x))


@extended
def log2_backward(dy: Array, x: Array) -> Array:
    """Return dy / (x log 2)."""
    return log_backward(dy / math.log(2), x)


@extended
def log10_backward(dy: Array, x: Array) -> Array:
    """Return dy / (x log 10)."""
    return log_backward(dy / math.log(10), x)


@extended
def log1p_backward(dy: Array, x: Array) -> Array:
    """Return dy / (1 + x)."""
    return np.asarray(dy / np.conj(_one_plus(x)))


def log_sigmoid_backward(dy: Array, x: Array) -> Array:
    """Return dy / (1 + e^x), which is dy sigmoid(-x)."""
    return np.asarray(dy / (1 + np.exp(x)))


@extended
def reciprocal_backward(dy: Array, x: Array) -> Array:
    """Return -dy / x^2, divided twice."""
    return -(dy / np.conj(x) / np.conj(x))


@extended
def reciprocal_no_nan_backward(dy: Array, x: Array) -> Array:
    """Return 0 where x is 0, else -dy / x^2."""
    zero = np.zeros((), x.dtype)
    return np.where(x == 0, zero, reciprocal_backward(dy, np.where(x == 0, 1, x)))


@extended
def rsqrt_backward(dy: Array, x: Array) -> Array:
    """Return -dy / (2 x sqrt(x))."""
    return np.asarray(-0.5 * dy / np.conj(x) / np.conj(np.sqrt(x)))


@extended
def sigmoid_backward_y(dy: Array, y: Array) -> Array:
    """Return dy y (1 - y)."""
    return np.asarray(dy * np.conj(y * _one_minus(y)))


@extended
def sigmoid_backward_x(dy: Array, x: Array) -> Array:
    """Return dy s (1 - s), s = sigmoid(x), as n / (1 + n)^2 with n = e^-|x|; for a complex x as 1 / (2 cosh(x / 2))^2."""
    if x.dtype.kind == "c":
        size = np.conj(2 * np.cosh(x / 2))
        return np.asarray(dy / (size * size))
    n = np.exp(-np.abs(x))
    return np.asarray(dy * (n / ((1 + n) * (1 + n))))


@extended
def sqrt_backward(dy: Array, x: Array) -> Array:
    """Return dy / (2 sqrt(x))."""
    return np.asarray(0.5 * dy / np.conj(np.sqrt(x)))


@extended
def square_backward(dy: Array, x: Array) -> Array:
    """Return 2 dy x."""
    return np.asarray(2 * dy * np.conj(x))


def _libm(function: Callable[[Array], Array], x: Array) -> Array:
    """Return a function as the C library has it in the long double: NumPy's own sine and cosine lose huge arguments."""
    return np.asarray(function(x if x.dtype.kind == "c" else x.astype(np.longdouble)).astype(x.dtype))


def _one_plus(x: Array) -> Array:
    return _complex(1 + x.real, x.imag) if x.dtype.kind == "c" else 1 + x


def _one_minus(x: Array) -> Array:
    return _complex(1 - x.real, -x.imag) if x.dtype.kind == "c" else 1 - x


def _minus_one(x: Array) -> Array:
    return _complex(x.real - 1, x.imag) if x.dtype.kind == "c" else x - 1


def _turned(x: Array) -> Array:
    """Return ix, each part with its sign."""
    return _complex(-x.imag, x.real)


def _complex(real: Array, imag: Array) -> Array:
    value: Array = np.empty(np.shape(real), np.result_type(real, np.complex64))
    value.real, value.imag = real, imag
    return value
