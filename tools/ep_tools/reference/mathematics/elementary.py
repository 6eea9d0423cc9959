"""Circular, hyperbolic, exponential and logarithmic functions of one real number."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.points import LARGEST, NORMAL, Line, multiples, near_zeros_of_sine
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SINE_POINTS", "TABLES", "TAN_POINTS", "clipped", "unary"]

OVERFLOW: Final = math.log(LARGEST)
UNDERFLOW: Final = math.log(NORMAL)
VANISHING: Final = math.log(5e-324) - math.log(2)
"""The natural logarithms of the largest number, the smallest normal one, and half of the smallest subnormal one."""

_LN2: Final = math.log(2)
_ROOT_HALF: Final = math.sqrt(0.5)
_FAR: Final = 1200


def unary(points: Line, value: Callable[..., Number], *attributes: float) -> Table:
    """Return the table of a function of one number."""
    return Table(lambda rng: ((x,) for x in points(rng)), value, attributes)


def clipped(function: Callable[[Number], Number], low: float = -_FAR, high: float = _FAR) -> Callable[[Number], Number]:
    """Return an exponential function that is held where its float64 result no longer changes."""
    return lambda x: function(min(max(x, low), high))


def _sine_points(*near: float) -> Line:
    hard = near_zeros_of_sine(random.Random(0), 200)  # noqa: S311 - test data, not a secret
    return Line(
        dense=((-10.0, 10.0), (-1000.0, 1000.0), (-1e6, 1e6)),
        sizes=(-40, 1024),
        near=(*near, math.pi, -math.pi / 2, 2**52 * math.pi, 1e5),
        also=(*hard, *multiples(math.pi / 4, -60, 61), 1e22, 1e300, LARGEST, -LARGEST),
    )


SINE_POINTS: Final = _sine_points(math.pi / 2)
TAN_POINTS: Final = _sine_points(math.pi / 4, 0.67434)
_UNIT: Final = (-1.0, 1.0)
_POSITIVE: Final = (5e-324, math.inf)
_ABOVE_ONE: Final = (1.0, math.inf)
_LOG: Final = Line(
    dense=((0.5, 2.0), (0.0, 4.0), (0.0, 1100.0)),
    near=(1.0, math.sqrt(2), _ROOT_HALF, math.e, 2.0, 0.5, 10.0, LARGEST / 2),
    sign=1,
    inside=_POSITIVE,
    also=(
        *(1 + side * 1.37 * 2.0**-power for power in range(1, 53) for side in (1, -1)),
        *(2.0**power for power in range(-1074, 1024, 30)),
        *(10.0**power for power in range(23)),
        LARGEST,
    ),
    subnormals=100,
)
_ARC: Final = Line(
    dense=((-1.0, 1.0), (-0.6, 0.6)),
    sizes=(-70, 0),
    near=(1.0, -1.0, 0.5, -0.5, 0.975, _ROOT_HALF),
    inside=_UNIT,
    also=(0.0, *(1 - 2.0**-power for power in range(54)), *(2.0**-power - 1 for power in range(54))),
)


def _exponential(base: float, *near: float) -> Line:
    """Return the points of an exponential function whose argument is counted in multiples of log(e) to the base."""
    ends = (OVERFLOW / base, UNDERFLOW / base, VANISHING / base)
    return Line(
        dense=((ends[1], ends[0]), (ends[1], ends[0]), (ends[2], ends[1]), (-2 / base, 2 / base)),
        sizes=(-60, 4),
        near=(*ends, 0.5 * _LN2 / base, -0.5 * _LN2 / base, 1.0, *near),
        inside=(-1e300, 1e300),
        also=(*multiples(_LN2 / base, -60, 60), *multiples(0.5 * _LN2 / base, -61, 61), 1e300, -1e300),
    )


def _steep(*near: float) -> Line:
    """Return the points of a hyperbolic function that grows without end."""
    end = math.asinh(LARGEST)
    return Line(
        dense=((-3.0, 3.0), (-25.0, 25.0), (-end, end)),
        sizes=(-70, 10),
        near=(OVERFLOW, end, -end, 22.0, -1.0, 0.3465735902799726, *near),
        also=(0.0, 1e300, -1e300, 2.0**-28, 2.0**-55),
    )


TABLES: Final = {
    "acos": unary(_ARC, mpmath.acos),
    "acosh": unary(
        Line(
            dense=((1.0, 2.0), (1.0, 20.0), (1.0, 1.001)),
            sizes=(0, 1024),
            near=(1.0, 2.0, math.sqrt(2), 1.5, 2.0**28, 2.0**511, LARGEST / 2),
            sign=1,
            inside=_ABOVE_ONE,
            also=(LARGEST, *(1 + 2.0**-power for power in range(53))),
        ),
        mpmath.acosh,
    ),
    "asin": unary(_ARC, mpmath.asin),
    "asinh": unary(
        Line(
            dense=((-3.0, 3.0), (-100.0, 100.0)),
            sizes=(-70, 1024),
            near=(0.5, -2.0, 2.0**-28, 2.0**28, 1.0, 2.0**511, LARGEST / 2),
            also=(0.0, LARGEST, -LARGEST),
        ),
        mpmath.asinh,
    ),
    "atan": unary(
        Line(
            dense=((-3.0, 3.0), (-20.0, 20.0)),
            sizes=(-70, 70),
            near=(0.4375, 0.6875, 1.1875, 2.4375, -1.0, 2.0**66, math.tan(math.pi / 8), math.tan(math.pi * 3 / 8)),
            also=(0.0, 1e300, -1e300, LARGEST, -LARGEST),
        ),
        mpmath.atan,
    ),
    "atanh": unary(
        Line(
            dense=((-1.0, 1.0), (-0.6, 0.6)),
            sizes=(-70, 0),
            near=(1.0, -1.0, 0.5, -0.5, 1 / 3, 2.0**-28),
            inside=(math.nextafter(-1, 0), math.nextafter(1, 0)),
            also=(0.0, *(1 - 2.0**-power for power in range(54)), *(2.0**-power - 1 for power in range(54))),
        ),
        mpmath.atanh,
    ),
    "cos": unary(SINE_POINTS, mpmath.cos),
    "cosh": unary(_steep(0.5), clipped(mpmath.cosh)),
    "exp": unary(_exponential(1.0), clipped(mpmath.exp)),
    "exp2": unary(_exponential(_LN2, 1024.0, -1022.0, -1075.0), clipped(lambda x: mpmath.power(2, x))),
    "expm1": unary(_exponential(1.0, 1.5 * _LN2, -37.0, 38.8), clipped(mpmath.expm1)),
    "log": unary(_LOG, mpmath.log),
    "log2": unary(_LOG, lambda x: mpmath.log(x) / mpmath.log(2)),
    "log10": unary(_LOG, lambda x: mpmath.log(x) / mpmath.log(10)),
    "log1p": unary(
        Line(
            dense=((-1.0, 1.0), (-0.5, 3.0), (0.0, 1000.0)),
            sizes=(-70, 1024),
            near=(-1.0, _ROOT_HALF - 1, math.sqrt(2) - 1, 2.0**-29, 2.0**-54, 2.0**53, 1.0, -0.5),
            inside=(math.nextafter(-1, 0), math.inf),
            also=(0.0, LARGEST, *(2.0**-power - 1 for power in range(54))),
        ),
        mpmath.log1p,
    ),
    "rsqrt": unary(_LOG, lambda x: 1 / mpmath.sqrt(x)),
    "sin": unary(SINE_POINTS, mpmath.sin),
    "sinh": unary(_steep(), clipped(mpmath.sinh)),
    "tan": unary(TAN_POINTS, mpmath.tan),
    "tanh": unary(
        Line(
            dense=((-3.0, 3.0), (-22.0, 22.0)),
            sizes=(-70, 5),
            near=(0.5493061443340549, -0.5493061443340549, 0.625, -1.0, 22.0, 19.06154746539849, 0.55),
            also=(0.0, 1e300, -1e300, 710.5, -746.0),
        ),
        clipped(mpmath.tanh),
    ),
}
