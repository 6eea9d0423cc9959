"""Where the inputs of an op lie: the interval of its random data, in terms of the element type's range."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_primitives.judging.reference import Array, limits

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ANGLE",
    "BEYOND_ONE",
    "COSINE",
    "DECAY",
    "EXPONENT",
    "EXPONENT2",
    "GRADIENT",
    "HYPERBOLIC",
    "POSITIVE",
    "REAL",
    "SHIFTED",
    "SIGMOID",
    "TAIL",
    "UNIT",
    "Domain",
]

# |z|^2 and the product of two numbers neither overflow nor vanish.
_PARTS: Final = (60, 500)
_NEAR: Final = 8.0
_OF_COMPLEX: Final = (
    "results of complex formulas for infinities and NaN are open; no square of a part overflows or vanishes"
)
_FACTOR: Final = "a product with it neither overflows nor becomes subnormal before it is added or scaled"


@dataclass(frozen=True, slots=True)
class Domain:
    """An interval, and whether values of any magnitude inside and outside of it are drawn, too.

    name     : for messages
    interval : from the largest finite value and the smallest normal one to (low, high): where values are dense
    is_open  : True if random data also takes every magnitude of the element type, of either sign; False if the
               accuracy of the row is promised inside the interval only
    smallest : of a domain that is not open, the smallest magnitude other than 0
    parts    : binary exponents of the largest part of a complex64 and of a complex128 that is in the domain
    why      : of a domain that is not open, why the accuracy is promised inside alone
    """

    name: str
    interval: Callable[[float, float], tuple[float, float]]
    is_open: bool = True
    smallest: float = 0.0
    parts: tuple[int, int] = _PARTS
    why: str = ""

    def closed(self) -> Domain:
        """Return the domain without the values outside of it."""
        return _closed(self)

    def bounds(self, dtype: str) -> tuple[float, float]:
        """Return (low, high) of the dense values of a floating element type, or of each part of a complex one."""
        if ep.dtype(dtype).kind == "c":
            high = min(_NEAR, self.magnitudes(dtype)[1])
            return -high, high
        info = limits(dtype)
        return self.interval(float(info.max), float(info.smallest_normal))

    def magnitudes(self, dtype: str) -> tuple[float, float]:
        """Return the smallest and the largest magnitude of a part of a complex number in the domain; it may be 0, too."""
        place = ("complex64", "complex128").index(dtype)
        return max(self.smallest, 2.0 ** -_PARTS[place]), 2.0 ** self.parts[place]

    def contains(self, dtype: str, values: Array) -> Array:
        """Say which values the accuracy is promised for: all of them if the domain is open."""
        if self.is_open:
            return np.ones(np.shape(values), np.bool_)
        if ep.dtype(dtype).kind == "c":
            least, most = self.magnitudes(dtype)
            sizes = np.abs(np.asarray(values).real), np.abs(np.asarray(values).imag)
            first, second = ((size == 0) | ((least <= size) & (size <= most)) for size in sizes)
            return np.asarray(first & second)
        low, high = self.bounds(dtype)
        wide = np.asarray(values).astype(np.float64)
        size = np.abs(wide)
        return np.asarray((low <= wide) & (wide <= high) & ((size >= self.smallest) | (size == 0)))


@cache
def _closed(domain: Domain) -> Domain:
    return domain if not domain.is_open else replace(domain, is_open=False, why=_OF_COMPLEX)


REAL: Final = Domain("real", lambda _max, _tiny: (-8.0, 8.0))
POSITIVE: Final = Domain("positive", lambda _max, _tiny: (0.0, 4.0))
SHIFTED: Final = Domain("above -1", lambda _max, _tiny: (-1.0, 4.0))
BEYOND_ONE: Final = Domain("above 1", lambda _max, _tiny: (1.0, 8.0))
COSINE: Final = Domain("cosine", lambda _max, _tiny: (-1.0, 1.0))

# Of a complex number e^64 and e^512 stay far from the ends of the range, and so do their squares' roots.
_GROWTH: Final = (6, 9)
ANGLE: Final = Domain("angle", lambda _max, _tiny: (-10.0, 10.0), parts=_GROWTH)
SIGMOID: Final = Domain("sigmoid", lambda _max, _tiny: (-10.0, 10.0), parts=_GROWTH)
EXPONENT: Final = Domain("exponent", lambda largest, tiny: (math.log(tiny) - 16, math.log(largest) + 1), parts=_GROWTH)
EXPONENT2: Final = Domain(
    "exponent of 2", lambda largest, tiny: (math.log2(tiny) - 24, math.log2(largest) + 1), parts=_GROWTH
)
HYPERBOLIC: Final = Domain(
    "hyperbolic", lambda largest, _tiny: (-math.log(largest) - 1, math.log(largest) + 1), parts=_GROWTH
)
TAIL: Final = Domain("tail of erfc", lambda _max, tiny: (-6.0, math.sqrt(-math.log(tiny)) + 1))

UNIT: Final = Domain(
    "unit", lambda _max, _tiny: (-1.0, 1.0), is_open=False, parts=(2, 2), why="y of tanh is never outside [-1, 1]"
)
DECAY: Final = Domain(
    "decay",
    lambda _max, tiny: (min(math.log(tiny) + 8, -16.0), 20.0),
    is_open=False,
    why="below it exp(x) is subnormal, and dy (alpha exp(x)) has lost bits that a large dy makes visible",
)
GRADIENT: Final = Domain(
    "gradient", lambda _max, _tiny: (-100.0, 100.0), is_open=False, smallest=2.0**-10, parts=(6, 6), why=_FACTOR
)
