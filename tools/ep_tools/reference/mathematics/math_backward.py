"""The gradients of the functions of one real number: dy times the slope at x, or the slope in terms of y = f(x)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.activation_backward import backward
from ep_tools.reference.mathematics.elementary import SINE_POINTS, TAN_POINTS
from ep_tools.reference.mathematics.points import LARGEST, Line
from ep_tools.reference.mathematics.special import bounded_exp, digamma, sigmoid, trigamma

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_tools.reference.mathematics.table import Number

__all__ = ["TABLES"]

Terms = tuple["Number", "Number"]
"""A value and S."""


def slope(function: Callable[[Number], Number]) -> Callable[[Number, Number], Number]:
    """Return dy times a function of x."""
    return lambda dy, x: dy * function(x)


def gauss(sign: int) -> Callable[[Number, Number], Terms]:
    """Return dy 2 / sqrt(pi) e^(-x^2), and its size times 1 + x^2, because the rounding of x^2 counts x^2 times."""

    def value(dy: Number, x: Number) -> Terms:
        density = 2 * bounded_exp(-x * x) / mpmath.sqrt(mpmath.pi)
        return sign * dy * density, abs(dy) * density * (1 + x * x)

    return value


def digamma_slope(dy: Number, x: Number) -> Terms:
    """Return dy digamma(x) and S."""
    value, scale = digamma(x)
    return dy * value, abs(dy) * scale


def over_square(dy: Number, x: Number) -> Number:
    """Return -dy / x^2, and 0 at 0."""
    return -dy / (x * x) if x else mpmath.mpf(0)


_ENDS: Final = (1.0, -1.0)
_INSIDE: Final = Line(
    dense=((-1.0, 1.0), (-0.6, 0.6)),
    sizes=(-70, 0),
    near=(*_ENDS, 0.5, -math.sqrt(0.5)),
    inside=(math.nextafter(-1, 0), math.nextafter(1, 0)),
    also=(0.0, *(side * (1 - 1.37 * 2.0**-power) for power in range(1, 53) for side in _ENDS)),
)
_ANY: Final = Line(
    dense=((-8.0, 8.0), (-1000.0, 1000.0)),
    near=(1.0, -1.0, 2.0**53, 2.0**-27, 2.0**27, 2.0**60),
    also=(0.0, LARGEST, -LARGEST),
)
_POSITIVE: Final = Line(
    dense=((0.0, 4.0), (0.0, 1000.0)),
    near=(1.0, 2.0, 0.5, 2.0**52),
    sign=1,
    inside=(5e-324, math.inf),
    also=(LARGEST,),
)
_GAMMA: Final = Line(
    dense=((-20.0, 0.0), (-5.0, 0.0), (0.0, 3.0), (0.0, 60.0)),
    sizes=(-40, 5),
    near=(1.4616321449683622, -0.5040830082644554, -1.5734984731623904, 1.0, 2.0, 6.0, 10.0),
    inside=(-20.0, 60.0),
    also=tuple(side * 2.0**-power - pole for pole in range(1, 12) for side in (1, -1) for power in (3, 9, 20, 44)),
    subnormals=0,
)
_NONZERO: Final = Line(dense=((-8.0, 8.0), (-1000.0, 1000.0)), sizes=(-500, 500), near=(1.0, -1.0, -2.0), subnormals=0)


def _steep(end: float) -> Line:
    """Return the points of an exponential function up to where it, times a gradient, nearly overflows or vanishes."""
    return Line(
        dense=((-3.0, 3.0), (-25.0, 25.0), (-end, end)),
        sizes=(-60, 9),
        near=(1.0, -1.0, 22.0, 0.34657359027997264),
        inside=(-end, end),
        also=(0.0,),
    )


_TABLES: Final = {
    "acos": backward(_INSIDE, slope(lambda x: -1 / mpmath.sqrt((1 - x) * (1 + x)))),
    "acosh": backward(
        Line(
            dense=((1.0, 2.0), (1.0, 20.0)),
            sizes=(0, 1024),
            near=(1.0, 2.0, 2.0**28),
            sign=1,
            inside=(math.nextafter(1, 2), math.inf),
            also=(LARGEST, *(1 + 1.37 * 2.0**-power for power in range(1, 53))),
        ),
        slope(lambda x: 1 / mpmath.sqrt((x - 1) * (x + 1))),
    ),
    "asin": backward(_INSIDE, slope(lambda x: 1 / mpmath.sqrt((1 - x) * (1 + x)))),
    "asinh": backward(_ANY, slope(lambda x: 1 / mpmath.sqrt(1 + x * x))),
    "atan": backward(_ANY, slope(lambda x: 1 / (1 + x * x))),
    "atanh": backward(_INSIDE, slope(lambda x: 1 / ((1 - x) * (1 + x)))),
    "cos": backward(SINE_POINTS, slope(lambda x: -mpmath.sin(x))),
    "cosh": backward(_steep(700.0), slope(mpmath.sinh)),
    "erf": backward(_steep(26.0), gauss(1)),
    "erfc": backward(_steep(26.0), gauss(-1)),
    "exp": backward(_steep(700.0), slope(mpmath.exp)),
    "exp2": backward(_steep(1010.0), slope(lambda x: mpmath.power(2, x) * mpmath.log(2))),
    "expm1": backward(_steep(700.0), slope(mpmath.exp)),
    "lgamma": backward(_GAMMA, digamma_slope),
    "digamma": backward(_GAMMA, slope(trigamma)),
    "log2": backward(_POSITIVE, slope(lambda x: 1 / (x * mpmath.log(2)))),
    "log10": backward(_POSITIVE, slope(lambda x: 1 / (x * mpmath.log(10)))),
    "log1p": backward(
        Line(
            dense=((-1.0, 1.0), (-0.9, 20.0)),
            sizes=(-70, 1024),
            near=(-1.0, -0.5, 1.0, 2.0**53),
            inside=(math.nextafter(-1, 0), math.inf),
            also=(0.0, LARGEST),
        ),
        slope(lambda x: 1 / (1 + x)),
    ),
    "log_sigmoid": backward(
        Line(
            dense=((-20.0, 20.0), (-20.0, 700.0)),
            sizes=(-60, 9),
            near=(1.0, -1.0, 36.7, -19.5),
            inside=(-20.0, 700.0),
            also=(0.0,),
        ),
        slope(lambda x: sigmoid(-x)),
    ),
    "reciprocal": backward(_NONZERO, over_square),
    "reciprocal_no_nan": backward(_NONZERO, over_square),
    "rsqrt": backward(_POSITIVE, slope(lambda x: -1 / (2 * x * mpmath.sqrt(x)))),
    "sigmoid": backward(_steep(700.0), slope(lambda x: sigmoid(x) * sigmoid(-x))),
    "sin": backward(SINE_POINTS, slope(mpmath.cos)),
    "sinh": backward(_steep(700.0), slope(mpmath.cosh)),
    "square": backward(_ANY, slope(lambda x: 2 * x)),
    "sqrt": backward(_POSITIVE, slope(lambda x: 1 / (2 * mpmath.sqrt(x)))),
    "tan": backward(TAN_POINTS, slope(lambda x: 1 / mpmath.cos(x) ** 2)),
}
_FROM_SIGMOID: Final = Line(
    dense=((0.0, 1.0), (0.0, 0.01)),
    sizes=(-60, 0),
    near=(1.0, 0.5),
    sign=1,
    inside=(0.0, 1.0),
    also=(0.0,),
    subnormals=0,
)

TABLES: Final = {
    **{f"{name}_backward_with_dy_x": table for name, table in _TABLES.items()},
    "sigmoid_backward_with_dy_y": backward(_FROM_SIGMOID, slope(lambda y: y * (1 - y))),
}
