"""Error functions, the gamma family and the logistic function of one real number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.elementary import clipped, unary
from ep_tools.reference.mathematics.points import LARGEST, Line

if TYPE_CHECKING:
    from ep_tools.reference.mathematics.table import Number

__all__ = [
    "DIGAMMA_POINTS",
    "TABLES",
    "TRIGAMMA_POINTS",
    "bounded_exp",
    "digamma",
    "log_gamma",
    "log_sigmoid",
    "normal",
    "sigmoid",
    "trigamma",
]

_FAR: Final = 2200
_LOGISTIC: Final = Line(
    dense=((-10.0, 10.0), (-40.0, 40.0), (-745.0, 0.0)),
    sizes=(-70, 5),
    near=(-708.3964185322641, -744.4400719213812, -745.1332191019412, 36.7, -36.7, 0.5, -1.0),
    also=(0.0, 1e300, -1e300, 1000.0, LARGEST, -LARGEST),
)
_BESIDE_POLES: Final = tuple(
    side * 2.0**-power - pole for pole in range(1, 12) for side in (1, -1) for power in (3, 9, 20, 44)
)
_LOG_GAMMA_ROOTS: Final = (
    -3.14358088834998,
    -4.991544640560048,
    -4.039361839740537,
    -5.998607480080875,
    -6.999801507890638,
)
DIGAMMA_POINTS: Final = Line(
    dense=((-10.0, 0.0), (-100.0, 0.0), (0.0, 3.0), (0.0, 20.0)),
    sizes=(-1022, 1024),
    near=(1.4616321449683622, -0.5040830082644554, -1.5734984731623904, -9.702672540001864, 1.0, 2.0, 10.0),
    sign=1,
    also=(*_BESIDE_POLES, -0.5, -1.5, -20.5, 1e15 + 0.5, -1e10 - 0.25, LARGEST),
    subnormals=0,
)
TRIGAMMA_POINTS: Final = Line(
    dense=((-10.0, 0.0), (-100.0, 0.0), (0.0, 3.0), (0.0, 20.0)),
    sizes=(-511, 1022),
    near=(1.0, 0.5, 2.0, 6.0, 10.0, -0.5, 2.0**-26),
    sign=1,
    also=(*_BESIDE_POLES, -1.5, -20.5, -1e10 - 0.25),
    subnormals=0,
)


def erfc(x: Number) -> Number:
    """Return erfc, held where it is 2 or vanishes: mpmath's does not end far out."""
    return mpmath.erfc(min(max(x, -40), 40))


def normal(x: Number) -> Number:
    """Return the normal distribution function Phi(x)."""
    return erfc(-x / mpmath.sqrt(2)) / 2


def log_gamma(x: Number) -> tuple[Number, Number]:
    """Return log |Gamma(x)| and S = 1 + |log |Gamma(x)||, below 0 with log |x|, |log |sin pi x|| and |log Gamma(-x)| more."""
    if x > 0:
        value = mpmath.loggamma(x)
        return value, 1 + abs(value)
    sine = abs(mpmath.sinpi(x))
    value = mpmath.log(mpmath.pi / sine) - mpmath.loggamma(1 - x)
    return value, 1 + abs(value) + mpmath.log(-x) + abs(mpmath.log(sine)) + abs(mpmath.loggamma(-x))


def digamma(x: Number) -> tuple[Number, Number]:
    """Return the logarithmic derivative of Gamma and S = 1 + |psi(x)|, below 0 with 2 log(1 + |x|) more."""
    if x > 0:
        value = mpmath.psi(0, x)
        return value, 1 + abs(value)
    value = mpmath.psi(0, 1 - x) - mpmath.pi * mpmath.cospi(x) / mpmath.sinpi(x)
    return value, 1 + abs(value) + 2 * mpmath.log1p(-x)


def trigamma(x: Number) -> Number:
    """Return the derivative of digamma, by reflection below 0."""
    return mpmath.psi(1, x) if x > 0 else (mpmath.pi / mpmath.sinpi(x)) ** 2 - mpmath.psi(1, 1 - x)


def bounded_exp(x: Number) -> Number:
    """Return e^x, held where what float64 makes of it no longer changes, even times its largest number."""
    return mpmath.exp(min(max(x, -_FAR), _FAR))


def sigmoid(x: Number) -> Number:
    """Return 1 / (1 + e^-x)."""
    return 1 / (1 + bounded_exp(-x))


def log_sigmoid(x: Number) -> Number:
    """Return log(1 / (1 + e^-x)), which is x - log(1 + e^x)."""
    return -mpmath.log1p(bounded_exp(-x)) if x > 0 else x - mpmath.log1p(bounded_exp(x))


TABLES: Final = {
    "digamma": unary(
        DIGAMMA_POINTS,
        digamma,
    ),
    "trigamma": unary(
        TRIGAMMA_POINTS,
        trigamma,
    ),
    "erf": unary(
        Line(
            dense=((-3.0, 3.0), (-6.5, 6.5)),
            sizes=(-1022, 5),
            near=(0.84375, 1.25, 1 / 0.35, -6.0, 0.5, 4.0, 5.9, 2.0**-28),
            also=(0.0, 1e300, -1e300, LARGEST),
        ),
        clipped(mpmath.erf, -40, 40),
    ),
    "erfc": unary(
        Line(
            dense=((-2.0, 3.0), (-6.5, 27.3), (26.5, 27.3)),
            sizes=(-70, 5),
            near=(0.84375, 1.25, 1 / 0.35, -5.9, 0.5, 28.0, 26.543258645461, 27.22601, 2.0**-56),
            also=(0.0, 1e300, -1e300, LARGEST),
        ),
        erfc,
    ),
    "lgamma": unary(
        Line(
            dense=((-12.0, 0.0), (-200.0, 0.0), (0.0, 3.0), (0.0, 20.0)),
            sizes=(-1022, 1015),
            near=(
                1.0,
                2.0,
                1.4616321449683622,
                -2.7476826467274127,
                -2.4570247382208006,
                -3.955294284858598,
                -5.0082181683225935,
            ),
            sign=1,
            also=(
                *_BESIDE_POLES,
                *_LOG_GAMMA_ROOTS,
                -0.5,
                -1.5,
                -20.5,
                1e15 + 0.5,
                -1e10 - 0.25,
                2.5e305,
                2.56e305,
                LARGEST,
            ),
        ),
        log_gamma,
    ),
    "log_sigmoid": unary(_LOGISTIC, log_sigmoid),
    "sigmoid": unary(_LOGISTIC, sigmoid),
}
