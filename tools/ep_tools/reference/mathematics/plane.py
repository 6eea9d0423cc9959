"""Where complex inputs lie: the plane near the origin, every magnitude, both sides of the axes, hard spots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

__all__ = ["Plane", "PlanePairs", "complex_gradients"]

COUNT: Final = 2100
_LEAST: Final = 2.0**-500
_FINEST: Final = 50
_ZEROS: Final = (0.0, -0.0)


@dataclass(frozen=True)
class Plane:
    """The points of one complex input. A zero part has either sign: the two sides of a branch cut.

    high  : binary exponent of the largest part
    dense : the largest part of those points that are evenly spread
    near  : hard spots; each comes with neighbours at distances of 1 to 2**-50 of it
    but   : points to leave out, such as poles
    least : the smallest part other than 0
    """

    high: int = 500
    dense: float = 4.0
    near: tuple[complex, ...] = ()
    but: tuple[complex, ...] = ()
    least: float = _LEAST

    def __call__(self, rng: random.Random, count: int = COUNT) -> list[complex]:
        """Return distinct points, about `count` of them."""
        found: dict[str, complex] = {}
        for source in (self._spots(rng), self._spread(rng)):
            for z in source:
                if len(found) >= count:
                    break
                if z not in self.but and self._contains(z):
                    found[repr(z)] = z
        return list(found.values())

    def _contains(self, z: complex) -> bool:
        return all(not part or self.least <= abs(part) <= 2.0**self.high for part in (z.real, z.imag))

    def _spots(self, rng: random.Random) -> Iterator[complex]:
        for centre in self.near:
            for zeros in ((x, y) for x in _ZEROS for y in _ZEROS):
                yield complex(centre.real or zeros[0], centre.imag or zeros[1])
            for power in range(_FINEST):
                distance = max(abs(centre), 2.0**-10) * 2.0**-power
                angle = rng.uniform(0, 2 * math.pi)
                for step in (complex(distance, 0), complex(0, distance)):
                    yield centre + step * rng.choice((-1, 1))
                yield centre + complex(distance * math.cos(angle), distance * math.sin(angle))

    def _spread(self, rng: random.Random) -> Iterator[complex]:
        low = math.frexp(self.least)[1]

        def any_size() -> float:
            return math.ldexp(1 + rng.random(), rng.randrange(low, self.high)) * rng.choice((-1, 1))

        def dense() -> float:
            return rng.uniform(-self.dense, self.dense)

        def wide() -> float:
            return rng.uniform(-1, 1) * min(2.0**self.high, 100.0)

        def zero() -> float:
            return rng.choice(_ZEROS)

        while True:
            for _ in range(3):
                yield complex(dense(), dense())
            angle, radius = rng.uniform(-math.pi, math.pi), 1 + rng.choice((-1, 1)) * 2.0 ** -rng.randrange(53)
            yield complex(radius * math.cos(angle), radius * math.sin(angle))
            yield complex(wide(), wide())
            yield complex(any_size(), any_size())
            size = math.ldexp(1, rng.randrange(low, self.high - 1))
            yield complex(size * rng.uniform(-1, 1), size * rng.uniform(-1, 1))
            yield complex(dense(), any_size())
            yield complex(any_size(), dense())
            yield rng.choice((complex(dense(), zero()), complex(any_size(), zero())))
            yield rng.choice((complex(zero(), dense()), complex(zero(), any_size())))


@dataclass(frozen=True)
class PlanePairs:
    """The points of two complex inputs: those of one with as many of the other, in an order of their own."""

    first: Callable[[random.Random, int], list[complex]]
    second: Callable[[random.Random, int], list[complex]]

    def __call__(self, rng: random.Random) -> Iterator[tuple[complex, complex]]:
        """Yield the pairs."""
        left, right = self.first(rng, COUNT), self.second(rng, COUNT)
        rng.shuffle(left)
        yield from zip(left, right, strict=True)


def complex_gradients(rng: random.Random, count: int) -> list[complex]:
    """Return gradients whose parts lie between 2**-10 and 2**6, or are 0 in one point out of eight."""

    def part() -> float:
        return rng.choice((-1.0, 1.0)) * math.pow(2, rng.uniform(-10, 6))

    return [complex(part(), part() if rng.random() > 1 / 8 else 0.0) for _ in range(count)]
