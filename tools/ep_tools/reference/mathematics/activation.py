"""The activations of one real number; their constants are float64 numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.elementary import unary
from ep_tools.reference.mathematics.points import LARGEST, Line
from ep_tools.reference.mathematics.special import bounded_exp, normal, sigmoid

if TYPE_CHECKING:
    from ep_tools.reference.mathematics.table import Number

__all__ = [
    "ALPHA",
    "FAST_GELU_MINIMUM",
    "GELU_MINIMUM",
    "MISH_MINIMUM",
    "QUICK_GELU_MINIMUM",
    "SELU_ALPHA",
    "SELU_SCALE",
    "SILU_MINIMUM",
    "TABLES",
    "fast_gelu_argument",
]

ALPHA: Final = 1.6732632423543772
SELU_ALPHA: Final = 1.6732632423543772
SELU_SCALE: Final = 1.0507009873554805
_FAR: Final = 2200

FAST_GELU_MINIMUM: Final = -0.7524614220710162
GELU_MINIMUM: Final = -0.7517915246935645
MISH_MINIMUM: Final = -1.1924312145154952
SILU_MINIMUM: Final = -1.2784645427610737
QUICK_GELU_MINIMUM: Final = -0.751154255441289
"""Where the functions are smallest, so where their derivatives have their roots."""

_HUGE: Final = (0.0, 1e300, -1e300, LARGEST, -LARGEST, 100.0, -1000.0)


def growth(x: Number) -> Number:
    """Return e^x - 1."""
    return mpmath.expm1(max(x, -_FAR))


def elu(x: Number, alpha: Number) -> Number:
    """Return x above 0, else alpha (e^x - 1)."""
    return x if x > 0 else alpha * growth(x)


def celu(x: Number, alpha: Number) -> Number:
    """Return x above 0, else alpha (e^(x / alpha) - 1)."""
    return x if x > 0 else alpha * growth(x / alpha)


def selu(x: Number) -> Number:
    """Return elu for alpha 1.67..., scaled by 1.05...."""
    return mpmath.mpf(SELU_SCALE) * elu(x, mpmath.mpf(SELU_ALPHA))


def gelu(x: Number) -> Number:
    """Return x Phi(x)."""
    return x * normal(x)


def quick_gelu(x: Number) -> Number:
    """Return x sigmoid(1.702 x)."""
    return x * sigmoid(mpmath.mpf(1.702) * x)


def silu(x: Number) -> Number:
    """Return x sigmoid(x)."""
    return x * sigmoid(x)


def mish(x: Number) -> Number:
    """Return x tanh(log(1 + e^x))."""
    return x * mpmath.tanh(mpmath.log1p(bounded_exp(x)))


def hard_sigmoid(x: Number) -> Number:
    """Return x / 6 + 1/2 between 0 and 1."""
    return min(max(x / 6 + mpmath.mpf(0.5), mpmath.mpf(0)), mpmath.mpf(1))


def hard_swish(x: Number) -> Number:
    """Return x hard_sigmoid(x)."""
    return x * hard_sigmoid(x)


def soft_sign(x: Number) -> Number:
    """Return x / (1 + |x|)."""
    return x / (1 + abs(x))


def soft_plus(x: Number, beta: Number, threshold: Number) -> Number:
    """Return log(1 + e^(beta x)) / beta, and x where beta x is above the threshold."""
    return x if beta * x > threshold else mpmath.log1p(bounded_exp(beta * x)) / beta


def fast_gelu_argument(x: Number) -> tuple[Number, Number]:
    """Return u = sqrt(2 / pi) (x + 0.044715 x^3) of float64 constants, and its derivative."""
    scale, cubic = mpmath.mpf(math.sqrt(2 / math.pi)), mpmath.mpf(0.044715)
    return scale * (x + cubic * x**3), scale * (1 + 3 * cubic * x * x)


def fast_gelu(x: Number) -> Number:
    """Return x (1 + tanh(u)) / 2."""
    return x * sigmoid(2 * fast_gelu_argument(x)[0])


def _exponential(*near: float, alpha: float = 1.0) -> Line:
    return Line(
        dense=((-40.0 * alpha, 0.0), (-2.0 * alpha, alpha)),
        sizes=(-70, 9),
        near=(*near, -alpha, -0.34657359027997264 * alpha, -37.0 * alpha, -38.2 * alpha, 1.0),
        also=_HUGE,
    )


def _bell(minimum: float, end: float, *near: float) -> Line:
    """Return the points of an x times a distribution function that vanishes at `end`."""
    return Line(
        dense=((-6.0, 6.0), (end, 0.0), (end, 0.6 * end)),
        sizes=(-1022, 7),
        near=(minimum, end, 0.5, -1.0, *near),
        also=_HUGE,
    )


def _pieces(*near: float) -> Line:
    return Line(dense=((-4.0, 4.0), (-3.1, -2.9), (2.9, 3.1)), sizes=(-1022, 1024), near=near, also=_HUGE)


TABLES: Final = {
    "elu": unary(_exponential(), elu, ALPHA),
    "celu": unary(_exponential(alpha=ALPHA), celu, ALPHA),
    "gelu": unary(_bell(GELU_MINIMUM, -38.5, -2.82842712474619, -8.3, -37.5, 8.3), gelu),
    "hard_swish": unary(_pieces(-3.0, 3.0, -1.5, 1.0), hard_swish),
    "hard_sigmoid": unary(_pieces(-3.0, 3.0, -1.0, 1.0), hard_sigmoid),
    "mish": unary(_bell(MISH_MINIMUM, -751.0, -708.4, -745.0, 22.0, 36.7, -36.7), mish),
    "selu": unary(_exponential(), selu),
    "silu": unary(_bell(SILU_MINIMUM, -751.0, -708.4, -745.0, 36.7, -36.7), silu),
    "soft_sign": unary(_pieces(-1.0, 1.0, 2.0**53, 2.0**-53), soft_sign),
    "soft_plus": unary(
        Line(
            dense=((-10.0, 30.0), (-80.0, 80.0), (-1490.0, 0.0)),
            sizes=(-70, 6),
            near=(16.0, -1416.0, -1488.0, -73.5, 0.5, -1.0),
            also=_HUGE,
        ),
        soft_plus,
        *(0.5, 8.0),
    ),
    "fast_gelu": unary(_bell(FAST_GELU_MINIMUM, -21.6, -21.2, -5.0, 5.0), fast_gelu),
    "quick_gelu": unary(_bell(QUICK_GELU_MINIMUM, -441.5, -416.2, -437.8, 21.6, -21.6), quick_gelu),
}
