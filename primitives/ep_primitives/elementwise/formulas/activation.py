"""The activations. None of them overflows or cancels in float64, and at infinities they have their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.elementwise.formulas.math import bell

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = [
    "FAST_GELU_CUBE",
    "FAST_GELU_SCALE",
    "QUICK_GELU",
    "SELU_ALPHA",
    "SELU_SCALE",
    "celu",
    "elu",
    "fast_gelu",
    "gelu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "mish",
    "quick_gelu",
    "relu",
    "scaled",
    "selu",
    "silu",
    "soft_plus",
    "soft_shrink",
    "soft_sign",
    "square_relu",
    "threshold",
]

SELU_SCALE: Final = 1.0507009873554805
SELU_ALPHA: Final = 1.6732632423543772
FAST_GELU_SCALE: Final = 0.7978845608028654
FAST_GELU_CUBE: Final = 0.044715
QUICK_GELU: Final = 1.702

# e^x (e^x + 2) / (e^x (e^x + 2) + 2) is 1 in float64 from here on, and its square does not overflow.
_SATURATED: Final = 40.0
_GELU_TAIL: Final = 0.5
_LINEAR: Final = 2.0**-54
"""Below it e^z - 1 is z to half an ulp of float64."""


def elu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, else alpha (e^x - 1), without the cancellation that subtracting 1 has near 0."""
    return np.where(x > 0, x, np.float64(alpha) * np.expm1(np.where(x > 0, 0.0, x)))


def celu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, else alpha (e^(x / alpha) - 1), which is x where the quotient is next to 0."""
    quotient = np.where(x > 0, 0.0, x) / np.float64(alpha)
    return np.where(np.abs(quotient) < _LINEAR, x, np.where(x > 0, x, np.float64(alpha) * np.expm1(quotient)))


def relu(x: Array) -> Array:
    """Return 0 where x <= 0, else x: a NaN stays, and -0 becomes +0."""
    return np.where(x <= 0, np.zeros_like(x), x)


def gelu(x: Array) -> Array:
    """Return x * Phi(x) = 0.5 x erfc(-x / sqrt 2), with its limit -0 at -inf, where the product would be NaN.

    Below -0.5 as 0.5 x e^(-x^2 / 2) erfcx(-x / sqrt 2): there erfc multiplies the rounding of its argument, 60 times at -6.
    """
    from scipy.special import erfc, erfcx  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    size = np.clip(-x, _GELU_TAIL, 50)
    tail = bell(size, 0.5) * erfcx(size * math.sqrt(0.5))
    twice = np.where(x < -_GELU_TAIL, tail, erfc(-np.maximum(x, -_GELU_TAIL) * math.sqrt(0.5)))
    return np.where(x == -math.inf, -0.0, 0.5 * x * twice)


def hard_swish(x: Array) -> Array:
    """Return x (x + 3) / 6 between -3 and 3, 0 below and x above."""
    return np.where(x <= -3, 0.0, np.where(x >= 3, x, x * ((x + 3) / 6)))  # noqa: PLR2004 - the definition's


def hard_sigmoid(x: Array) -> Array:
    """Return (x + 3) / 6 between -3 and 3, 0 below and 1 above."""
    return np.clip((x + 3) / 6, 0, 1)


def hard_shrink(x: Array, lambd: float) -> Array:
    """Return 0 where -lambd <= x <= lambd, else x."""
    return np.where((-lambd <= x) & (x <= lambd), 0.0, x)


def hard_tanh(x: Array, low: float, high: float) -> Array:
    """Return low where x < low, high where x > high, else x."""
    return np.where(x < low, low, np.where(x > high, high, x))


def leaky_relu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, else alpha x."""
    return np.where(x > 0, x, np.float64(alpha) * x)


def mish(x: Array) -> Array:
    """Return x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2), which does not cancel."""
    power = np.exp(np.minimum(x, _SATURATED))
    weight = power * (power + 2)
    return np.where(x == -math.inf, -0.0, x * (weight / (weight + 2)))


def selu(x: Array) -> Array:
    """Return SELU_SCALE x where x > 0, else SELU_SCALE SELU_ALPHA (e^x - 1)."""
    return SELU_SCALE * elu(x, SELU_ALPHA)


def silu(x: Array) -> Array:
    """Return x / (1 + e^-x)."""
    return _gated(x, x)


def soft_shrink(x: Array, alpha: float) -> Array:
    """Return x - alpha where x > alpha, x + alpha where x < -alpha, 0 between."""
    wide = np.float64(alpha)
    return np.where(x > wide, x - wide, np.where(x < -wide, x + wide, np.where(np.isnan(x), x, 0.0)))


def soft_sign(x: Array) -> Array:
    """Return x / (1 + |x|)."""
    return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(x)))


def soft_plus(x: Array, beta: float, threshold: float) -> Array:
    """Return x where beta x, rounded as beta is, is above the threshold, else log(1 + e^(beta x)) / beta."""
    is_linear = scaled(x, beta) > threshold
    # e^(beta x) has the product's rounding |beta x| times, and a subnormal one few digits; float64 holds float32's.
    wide = (np.float64 if np.asarray(beta).dtype == np.float32 else np.longdouble)(beta)
    product = np.where(is_linear, 0.0, x) * wide
    smooth = np.maximum(product, 0) + np.log1p(np.exp(-np.abs(product)))
    return np.where(is_linear, x, np.asarray(smooth / wide).astype(np.float64))


def scaled(x: Array, beta: float) -> Array:
    """Return beta x, rounded to the type that the attribute beta is held in."""
    return np.asarray(np.float64(beta) * x).astype(np.asarray(beta).dtype)


def threshold(x: Array, threshold: float, value: float) -> Array:
    """Return value where x <= threshold, else x."""
    return np.where(x <= threshold, value, x)


def fast_gelu(x: Array) -> Array:
    """Return 0.5 x (1 + tanh u) = x / (1 + e^(-2 u)) with u = FAST_GELU_SCALE (x + FAST_GELU_CUBE x^3)."""
    return _gated(x, 2 * FAST_GELU_SCALE * (x + FAST_GELU_CUBE * (x * x * x)))


def quick_gelu(x: Array) -> Array:
    """Return x / (1 + e^(-QUICK_GELU x))."""
    return _gated(x, QUICK_GELU * x)


def square_relu(x: Array) -> Array:
    """Return x^2 where x > 0, else 0."""
    return np.where(x <= 0, 0.0, x * x)


def _gated(x: Array, gate: Array) -> Array:
    """Return x / (1 + e^-gate) for a gate of the sign of x, with the limit -0 at -inf."""
    tail = np.exp(-np.abs(gate))
    return np.where(x == -math.inf, -0.0, x * (np.where(gate < 0, tail, 1.0) / (1 + tail)))
