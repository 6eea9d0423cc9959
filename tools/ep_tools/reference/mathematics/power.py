"""Powers, their gradients, and the Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.points import LARGEST, NORMAL, Line, Pairs, gradients
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

__all__ = ["TABLES"]

_EXPONENT: Final = -1.5
_BASE: Final = 10.0
_HALF: Final = 0.5


def power(base: Number, exponent: Number) -> Number:
    """Return a power as C has it, real and finite: e^(exponent log |base|), negative for an odd power of a negative base."""
    if not exponent or base == 1:
        return mpmath.mpf(1)
    size = exponent * mpmath.log(abs(base))
    result = mpmath.power(abs(base), exponent) if abs(size) < _FAR else mpmath.exp(_FAR * mpmath.sign(size))
    return -result if base < 0 and int(exponent) % 2 else result


_FAR: Final = 2200


def power_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield bases and exponents: results of every magnitude, both ends of the range, bases near 1, integral exponents."""
    yield from _chosen_by_result(rng)
    for _ in range(400):
        yield rng.uniform(0, 10), rng.uniform(-10, 10)
        yield -rng.uniform(0.1, 10), float(rng.randrange(-40, 41))
    for _ in range(150):
        yield math.ldexp(rng.random(), -1022), rng.uniform(-0.9, 0.9)
        yield rng.uniform(0.5, 2), rng.choice((-1, 1)) * 2.0 ** rng.uniform(-60, 0)
    for _ in range(80):
        yield float(rng.randrange(1, 12)), float(rng.randrange(-12, 13))
        yield 2.0 ** rng.randrange(-20, 20), rng.randrange(-100, 100) / 4
    yield from ((-1.0, 2.0**53), (-1.0, 2.0**53 - 1), (-2.0, 1023.0), (-2.0, -1074.0), (4.0, _HALF), (LARGEST, _HALF))


def _chosen_by_result(rng: random.Random) -> Iterator[tuple[float, float]]:
    low, high = math.log(5e-324), math.log(LARGEST)
    for _ in range(700):
        base = math.ldexp(1 + rng.random(), rng.randrange(-1022, 1023))
        yield base, rng.uniform(low, high) / math.log(base)
    for _ in range(300):
        base = 1 + rng.choice((-1, 1)) * 2.0 ** rng.uniform(-52, -2)
        yield base, rng.uniform(low, high) / math.log(base)
    for end in (high, math.log(NORMAL), low - math.log(2)):
        for size in range(46):
            base = rng.choice((rng.uniform(1.01, 100), rng.uniform(0.01, 0.99)))
            yield base, end * (1 + rng.choice((-1, 1)) * 2.0 ** -(size + 7)) / math.log(base)


def base_gradient(x: Number, dy: Number, exponent: Number) -> Number:
    """Return dy times the derivative of x^exponent by x."""
    return dy * exponent * mpmath.exp((exponent - 1) * mpmath.log(x))


def exponent_gradient(x: Number, dy: Number, base: Number) -> Number:
    """Return dy times the derivative of base^x by x."""
    return dy * mpmath.exp(x * mpmath.log(base)) * mpmath.log(base)


TABLES: Final = {
    "pow": Table(power_points, power),
    "scalar_base_power_grad": Table(
        Pairs(
            Line(
                dense=((0.0, 16.0), (0.0, 2.0)),
                sizes=(-10, 4),
                near=(1.0, 2.0, 0.5, 15.5),
                sign=1,
                inside=(2.0**-10, 16.0),
                subnormals=0,
            ),
            gradients,
        ),
        base_gradient,
        (_EXPONENT,),
    ),
    "scalar_exp_power_grad": Table(
        Pairs(
            Line(
                dense=((-306.0, 307.0), (-3.0, 3.0)),
                sizes=(-60, 8),
                near=(1.0, -1.0, -306.5, 307.0, 22.0),
                inside=(-306.6, 307.2),
                also=(0.0,),
            ),
            gradients,
        ),
        exponent_gradient,
        (_BASE,),
    ),
    "zeta": Table(
        Pairs(
            Line(
                dense=((1.0, 20.0), (1.0, 2.0)),
                sizes=(0, 4),
                near=(1.0, 2.0, 10.0),
                sign=1,
                inside=(math.nextafter(1, 2), 20.0),
                also=tuple(map(float, range(2, 21))),
                subnormals=0,
            ),
            Line(
                dense=((0.0, 20.0), (0.0, 2.0)),
                sizes=(-6, 4),
                near=(1.0, 2.0**-6, 9.0, 10.0),
                sign=1,
                inside=(2.0**-6, 20.0),
                subnormals=0,
            ),
        ),
        mpmath.zeta,
    ),
}
