"""Functions of two numbers: the angle and the length of a point, the logarithm of a sum of powers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.points import LARGEST, NORMAL, Line, Pairs
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

__all__ = ["TABLES"]

_COORDINATE: Final = Line(dense=((-8.0, 8.0), (-1.0, 1.0)), near=(1.0, -1.0))


def plane_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield points of every size and angle: near the axes and the diagonals, and both coordinates at an end of the range."""
    yield from Pairs(_COORDINATE, _COORDINATE)(rng)
    for _ in range(600):
        size = math.ldexp(1 + rng.random(), rng.randrange(-1022, 1022))
        near = size * (1 + rng.choice((-1, 1)) * 2.0 ** rng.uniform(-52, -1))
        pair = size * rng.choice((-1, 1)), rng.choice((near, size * 2.0 ** rng.uniform(-60, 60))) * rng.choice((-1, 1))
        if max(map(abs, pair)) < LARGEST:
            yield pair if rng.random() < _HALF else pair[::-1]
    for size in (LARGEST, LARGEST / 2, NORMAL, math.nextafter(NORMAL, 0), 5e-324):
        for other in (size, size / 3, -size, -size / 3):
            yield size, other
            yield -size, other


_HALF: Final = 0.5


def log_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """Return log(e^a + e^b) and S, the larger of the two with the terms of what the other adds to it."""
    apart, larger = abs(a - b), max(a, b)
    log = mpmath.log1p(mpmath.exp(-apart))
    return larger + log, abs(larger) + (1 + apart) * log


def log_sum_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield operands of every distance and size, and such as e^a + e^b is next to 1 for, where the logarithm vanishes."""
    for _ in range(700):
        yield rng.uniform(-50, 50), rng.uniform(-50, 50)
        a, apart = rng.uniform(-700, 700), 2.0 ** rng.uniform(-50, 9.5)
        yield (a, a - apart) if rng.random() < _HALF else (a - apart, a)
        tiny = rng.choice((-1, 1)) * math.ldexp(1 + rng.random(), rng.randrange(-1022, 4))
        yield tiny, -rng.uniform(0, 745)
    for _ in range(200):
        b = -(2.0 ** rng.uniform(-8, 5))
        a = math.log(-math.expm1(b))
        for each in (a, math.nextafter(a, 0), math.nextafter(a, -math.inf), a * (1 + 2.0 ** -rng.randrange(5, 50))):
            yield (each, b) if rng.random() < _HALF else (b, each)


TABLES: Final = {
    "atan2": Table(plane_points, mpmath.atan2),
    "hypot": Table(plane_points, lambda a, b: mpmath.sqrt(a * a + b * b)),
    "logaddexp": Table(log_sum_points, log_sum),
}
