"""Where the inputs lie: dense intervals, every magnitude, both sides of hard spots, subnormals and ends of the range.

They come from Python's `random`, whose sequence is the same in every version.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

__all__ = ["LARGEST", "NORMAL", "Line", "Pairs", "gradients", "multiples", "near_zeros_of_sine"]

LARGEST: Final = sys.float_info.max
NORMAL: Final = sys.float_info.min
_SUBNORMAL: Final = 5e-324

COUNT: Final = 2300
"""Points that a table has: at least 2,000, and small enough to be committed."""
_SPOT: Final = 46
"""Points on either side of a hard spot, at 1, 2, 4 ... 2**45 ulps."""
_EXACT: Final = 2**53


@dataclass(frozen=True)
class Line:
    """The points of one real input.

    dense  : intervals with evenly spread points, three fifths of those that `near` and `also` leave
    sizes  : binary exponents [low, high) that are evenly spread, the other two fifths
    near   : hard spots; each comes with its neighbours on both sides
    sign   : of the points of `sizes`; 0 takes both
    inside : the interval outside of which there are no points
    also   : single points
    """

    dense: tuple[tuple[float, float], ...]
    sizes: tuple[int, int] = (-1022, 1024)
    near: tuple[float, ...] = ()
    sign: int = 0
    inside: tuple[float, float] = (-math.inf, math.inf)
    also: tuple[float, ...] = ()
    subnormals: int = 40

    def __call__(self, rng: random.Random, count: int = COUNT) -> list[float]:
        """Return distinct points, about `count` of them."""
        spots = [x for centre in self.near for x in _around(centre)]
        found = dict.fromkeys(filter(self._contains, [*self.also, *spots, *self._subnormals(rng)]))
        source = self._spread(rng)
        while len(found) < count:
            found.update(dict.fromkeys(filter(self._contains, [next(source)])))
        return list(found)

    def _contains(self, x: float) -> bool:
        return self.inside[0] <= x <= self.inside[1] and math.isfinite(x)

    def _subnormals(self, rng: random.Random) -> Iterator[float]:
        if not self.subnormals:
            return
        for sign in (self.sign,) if self.sign else (1, -1):
            yield from (sign * _SUBNORMAL, sign * NORMAL, sign * math.nextafter(NORMAL, 0))
        for _ in range(self.subnormals):
            yield math.ldexp((self.sign or rng.choice((-1, 1))) * rng.random(), -1022)

    def _spread(self, rng: random.Random) -> Iterator[float]:
        while True:
            for low, high in self.dense:
                for _ in range(3):
                    yield low + (high - low) * rng.random()
                for _ in range(2):
                    size = math.ldexp(1 + rng.random(), rng.randrange(*self.sizes))
                    yield size * (self.sign or rng.choice((-1, 1)))


@dataclass(frozen=True)
class Pairs:
    """The points of two inputs: each point of one line with a number of the other's own.

    first, second : a line, or a function from a generator and a count to that many numbers
    """

    first: Callable[[random.Random, int], list[float]]
    second: Callable[[random.Random, int], list[float]]

    def __call__(self, rng: random.Random) -> Iterator[tuple[float, float]]:
        """Yield the pairs."""
        left, right = self.first(rng, COUNT), self.second(rng, COUNT)
        count = min(len(left), len(right))
        rng.shuffle(left)
        yield from zip(left[:count], right[:count], strict=True)


def gradients(rng: random.Random, count: int) -> list[float]:
    """Return gradients between 2**-10 and 100, of either sign, evenly spread in magnitude."""
    low, high = math.log(2.0**-10), math.log(100)
    return [rng.choice((-1, 1)) * math.exp(rng.uniform(low, high)) for _ in range(count)]


def multiples(step: float, low: int, high: int) -> tuple[float, ...]:
    """Return the multiples of a number, rounded."""
    return tuple(step * number for number in range(low, high))


def near_zeros_of_sine(rng: random.Random, count: int) -> tuple[float, ...]:
    """Return numbers of any magnitude that lie nearest to a multiple of pi/2.

    For each binary exponent e the best m 2**e has m the denominator of a convergent of 2**e / (pi/2): W. Kahan,
    "Minimizing q*m - n", 1983. The hardest of all, 6381956970095103 * 2**797, is among them.
    """
    exponents = [797, *rng.sample(range(-40, 970), count - 1)]
    return tuple(math.ldexp(_best_multiplier(exponent), exponent) for exponent in exponents)


def _best_multiplier(exponent: int) -> int:
    import mpmath  # noqa: PLC0415 - the other points need no mpmath

    with mpmath.workprec(1400):
        rest = mpmath.ldexp(2 / mpmath.pi, exponent)
        before, best = 0, 1
        while True:
            rest = 1 / (rest - mpmath.floor(rest))
            step = int(mpmath.floor(rest))
            if step * best + before > _EXACT:
                return best
            before, best = best, step * best + before


def _around(centre: float) -> Iterator[float]:
    yield centre
    for power in range(_SPOT):
        step = math.ulp(centre) * 2.0**power
        yield centre - step
        yield centre + step
