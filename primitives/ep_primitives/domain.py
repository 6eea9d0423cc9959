"""Where the inputs of an op lie: the interval of its random data, in terms of the element type's range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DECAY", "EXPONENT", "GRADIENT", "POSITIVE", "REAL", "SIGMOID", "UNIT", "Domain"]


@dataclass(frozen=True, slots=True)
class Domain:
    """An interval, and whether values of any magnitude inside and outside of it are drawn, too.

    name     : for messages
    interval : from the largest finite value and the smallest normal one to (low, high): where values are dense
    is_open  : True if random data also takes every magnitude of the element type, of either sign; False if the
               accuracy of the row is promised inside the interval only
    smallest : of a domain that is not open, the smallest magnitude other than 0
    """

    name: str
    interval: Callable[[float, float], tuple[float, float]]
    is_open: bool = True
    smallest: float = 0.0

    def bounds(self, dtype: str) -> tuple[float, float]:
        """Return (low, high) for a floating element type."""
        info = np.finfo(array_dtype(dtype))
        return self.interval(float(info.max), float(info.smallest_normal))

    def contains(self, dtype: str, values: Array) -> Array:
        """Say which values the accuracy is promised for."""
        low, high = self.bounds(dtype)
        size = np.abs(values)
        return np.asarray((low <= values) & (values <= high) & ((size >= self.smallest) | (size == 0)))


REAL: Final = Domain("real", lambda _max, _tiny: (-8.0, 8.0))
POSITIVE: Final = Domain("positive", lambda _max, _tiny: (0.0, 4.0))
EXPONENT: Final = Domain("exponent", lambda largest, tiny: (math.log(tiny) - 16, math.log(largest) + 1))
SIGMOID: Final = Domain("sigmoid", lambda _max, _tiny: (-10.0, 10.0))

# y of tanh is never outside [-1, 1].
UNIT: Final = Domain("unit", lambda _max, _tiny: (-1.0, 1.0), is_open=False)

# Below it exp(x) is subnormal, and dy * (alpha * exp(x)) has lost bits that a large dy makes visible.
DECAY: Final = Domain("decay", lambda _max, tiny: (min(math.log(tiny) + 8, -16.0), 20.0), is_open=False)

# A product with a gradient neither overflows nor becomes subnormal before it is added or scaled.
GRADIENT: Final = Domain("gradient", lambda _max, _tiny: (-100.0, 100.0), is_open=False, smallest=2.0**-10)
