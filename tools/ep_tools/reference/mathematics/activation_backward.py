"""The gradients of the activations: dy times the slope at x, or the slope in terms of y = f(x); S sums the terms' sizes.

S of the silu family counts what the rounding of the sigmoid's argument costs, as the rows say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.activation import (
    ALPHA,
    FAST_GELU_MINIMUM,
    GELU_MINIMUM,
    MISH_MINIMUM,
    QUICK_GELU_MINIMUM,
    SELU_ALPHA,
    SELU_SCALE,
    SILU_MINIMUM,
    fast_gelu_argument,
)
from ep_tools.reference.mathematics.points import LARGEST, Line, Pairs, gradients
from ep_tools.reference.mathematics.special import bounded_exp, normal, sigmoid
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLES", "backward"]

Terms = tuple[Number, Number]
"""A value and S."""

_LOW: Final = -700.0
"""Above it e^x times a gradient is a normal number."""


def backward(points: Line, value: Callable[..., Number], *attributes: float) -> Table:
    """Return the table of a function of a gradient and one number."""
    return Table(Pairs(gradients, points), value, attributes)


def elu(dy: Number, x: Number, alpha: Number) -> Number:
    """Return dy above 0, else dy alpha e^x."""
    return dy if x > 0 else dy * alpha * bounded_exp(x)


def celu(dy: Number, y: Number, alpha: Number) -> Terms:
    """Return dy where y is above 0, else dy (y / alpha + 1)."""
    ratio = min(y, 0) / alpha
    return dy * (ratio + 1), abs(dy) * (1 - ratio)


def selu(dy: Number, x: Number) -> Number:
    """Return elu's, scaled."""
    return mpmath.mpf(SELU_SCALE) * elu(dy, x, mpmath.mpf(SELU_ALPHA))


def gelu(dy: Number, x: Number) -> Terms:
    """Return dy (Phi(x) + x phi(x)) and S of the terms 1/2, Phi(x) - 1/2, x phi(x)."""
    tail = x * bounded_exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
    half = mpmath.mpf(0.5)
    return dy * (normal(x) + tail), abs(dy) * (half + abs(normal(x) - half) + abs(tail))


def fast_gelu(dy: Number, x: Number) -> Terms:
    """Return dy ((1 + t) / 2 + x (1 - t^2) u' / 2), t = tanh(u), and S of the terms 1/2, t / 2 and the last."""
    u, slope = fast_gelu_argument(x)
    tail = 2 * x * sigmoid(2 * u) * sigmoid(-2 * u) * slope
    return dy * (sigmoid(2 * u) + tail), abs(dy) * ((1 + abs(mpmath.tanh(u))) / 2 + abs(tail))


def hard_sigmoid(dy: Number, x: Number) -> Number:
    """Return dy / 6 between -3 and 3, else 0."""
    return dy / 6 if abs(x) < 3 else mpmath.mpf(0)  # noqa: PLR2004 - the definition's


def hard_swish(dy: Number, x: Number) -> Terms:
    """Return dy (x / 3 + 1/2) between -3 and 3, else 0 or dy."""
    third = min(max(x, -3), 3) / mpmath.mpf(3)
    slope = mpmath.mpf(x > 0) if abs(third) == 1 else third + mpmath.mpf(0.5)
    return dy * slope, abs(dy) * (abs(third) + mpmath.mpf(0.5))


def mish(dy: Number, x: Number) -> Terms:
    """Return dy (t + x s (1 - t^2)), t = tanh(log(1 + e^x)), s = sigmoid(x)."""
    # rest is (1 + e^x)^2 - 1, where the 1 would hide a small e^x.
    rest = bounded_exp(x) * (bounded_exp(x) + 2)
    t = rest / (rest + 2)
    tail = x * sigmoid(x) * 4 * (rest + 1) / (rest + 2) ** 2
    return dy * (t + tail), abs(dy) * (t + abs(tail))


def swish(z: Number) -> Terms:
    """Return the slope s (1 + z (1 - s)) of z s, s = sigmoid(z), and the same of |z|."""
    tail = z * sigmoid(-z)
    return sigmoid(z) * (1 + tail), sigmoid(z) * (1 + abs(tail))


def silu(dy: Number, x: Number) -> Terms:
    """Return dy times the slope of x sigmoid(x)."""
    slope, size = swish(x)
    return dy * slope, abs(dy) * size


def quick_gelu(dy: Number, x: Number) -> Terms:
    """Return dy times the slope of x sigmoid(1.702 x)."""
    z = mpmath.mpf(1.702) * x
    slope, size = swish(z)
    return dy * slope, abs(dy) * size * (1 + abs(z) * sigmoid(-z))


def square_relu(dy: Number, x: Number) -> Number:
    """Return 2 dy x above 0, else 0."""
    return 2 * dy * max(x, 0)


def soft_sign(dy: Number, x: Number) -> Number:
    """Return dy / (1 + |x|)^2."""
    return dy / (1 + abs(x)) ** 2


def soft_plus(dy: Number, x: Number, beta: Number, threshold: Number) -> Terms:
    """Return dy sigmoid(beta x), and dy where beta x is above the threshold."""
    z = beta * x
    slope = mpmath.mpf(1) if z > threshold else sigmoid(z)
    return dy * slope, abs(dy) * slope * (1 + abs(z) * sigmoid(-z))


def tanh(dy: Number, y: Number) -> Terms:
    """Return dy (1 - y^2)."""
    return dy * (1 - y * y), abs(dy) * (1 + y * y)


def _swish_points(minimum: float, scale: float = 1.0) -> Line:
    return Line(
        dense=((-6.0, 6.0), (-40.0, 20.0), (_LOW / scale, 0.0)),
        sizes=(-60, 6),
        near=(minimum, 1.0, -1.0, -2.0, 2.399357280520468, -36.7 / scale),
        inside=(_LOW / scale, 20.0),
        also=(0.0,),
        subnormals=0,
    )


def _bell(minimum: float, end: float) -> Line:
    return Line(
        dense=((-6.0, 6.0), (-end, 0.0), (0.0, end)),
        sizes=(-60, 4),
        near=(minimum, -math.sqrt(2), math.sqrt(2), 1.0),
        also=(0.0, 1e300, -1e300, 100.0, -100.0),
    )


def _growth(scale: float = 1.0) -> Line:
    return Line(
        dense=((_LOW * scale, 0.0), (-10.0, 2.0)),
        sizes=(-60, 3),
        near=(-1.0, -math.log(2) / 2, 1.0),
        inside=(_LOW * scale, 20.0),
        also=(0.0, 19.5),
    )


TABLES: Final = {
    "elu_backward_with_dy_x": backward(_growth(), elu, ALPHA),
    "celu_backward_with_dy_y": backward(
        Line(
            dense=((-ALPHA, 0.0), (-ALPHA, 1.0)),
            sizes=(-60, 0),
            near=(-ALPHA, 1.0, -ALPHA / 2),
            inside=(-ALPHA, 8.0),
        ),
        celu,
        ALPHA,
    ),
    "gelu_backward_with_dy_x": backward(_bell(GELU_MINIMUM, 39.0), gelu),
    "hard_swish_backward_with_dy_x": backward(
        Line(dense=((-4.0, 4.0),), sizes=(-1022, 1024), near=(-3.0, 3.0, -1.5, 1.0), also=(0.0,)), hard_swish
    ),
    "hard_sigmoid_backward_with_dy_x": backward(
        Line(dense=((-4.0, 4.0),), sizes=(-1022, 1024), near=(-3.0, 3.0), also=(0.0,)), hard_sigmoid
    ),
    "mish_backward_with_dy_x": backward(_swish_points(MISH_MINIMUM), mish),
    "selu_backward_with_dy_x": backward(_growth(), selu),
    "silu_backward_with_dy_x": backward(_swish_points(SILU_MINIMUM), silu),
    "soft_sign_backward_with_dy_x": backward(
        Line(dense=((-8.0, 8.0), (-1000.0, 1000.0)), near=(-1.0, 1.0, 2.0**53, 2.0**-53), also=(0.0, LARGEST)),
        soft_sign,
    ),
    "soft_plus_backward_with_dy_x": backward(
        Line(
            dense=((-10.0, 15.0), (-350.0, 40.0)),
            sizes=(-60, 5),
            near=(-1.0, 1.0, -100.0, 36.0),
            inside=(-350.0, 40.0),
            # At the threshold itself the rounding of beta x decides.
            also=(0.0, *(40 / 3 + side * 2.0**-power for power in range(1, 45) for side in (1, -1))),
        ),
        soft_plus,
        *(0.3, 4.0),
    ),
    "tanh_backward_with_dy_y": backward(
        Line(
            dense=((-1.0, 1.0),),
            sizes=(-60, -1),
            near=(1.0, -1.0),
            inside=(-1.0, 1.0),
            also=tuple(side * (1 - 1.37 * 2.0**-power) for power in range(1, 53) for side in (1, -1)),
        ),
        tanh,
    ),
    "square_relu_backward_with_dy_x": backward(
        Line(dense=((-8.0, 8.0), (0.0, 8.0)), near=(1.0,), also=(0.0, LARGEST)), square_relu
    ),
    "fast_gelu_backward_with_dy_x": backward(_bell(FAST_GELU_MINIMUM, 22.0), fast_gelu),
    "quick_gelu_backward_with_dy_x": backward(_swish_points(QUICK_GELU_MINIMUM, 1.702), quick_gelu),
}
