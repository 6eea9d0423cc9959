"""Where the gradients' second operand lies: inside, a slope is a normal number, so that its product alone can round badly.

A closed domain ends where the slope, or a part of it, overflows or becomes subnormal: a large dy makes lost bits
visible, and no formula in the compute type gets them back.
"""

from __future__ import annotations

import math
from typing import Final

from ep_primitives.elementwise.domain import Domain

__all__ = [
    "ACTIVATED",
    "ARCUS",
    "BELL",
    "FALLING",
    "GAMMA",
    "GAUSS",
    "GROWTH",
    "GROWTH_2",
    "HINGE",
    "LARGE",
    "POLES",
    "PROBABILITY",
    "QUICK",
    "RISING",
    "SCALED_DECAY",
    "UNIT_HINGE",
    "WAVE",
]

_CIRCULAR: Final = (6, 9)
"""The exponentials of such parts are in the range of their type, and their squares with one bit less."""
_SQUARED: Final = (5, 8)


def _decay(tiny: float) -> float:
    """Return from where on e^x is 2^11 times the smallest normal number; -16 for formats of 16 bits, which compute in float32."""
    return min(math.log(tiny) + 8, -16.0)


# Dense around the corners of a selection, so that a number drawn from it is inside of them.
HINGE: Final = Domain("hinge", lambda _max, _tiny: (-3.3, 3.3))
UNIT_HINGE: Final = Domain("unit hinge", lambda _max, _tiny: (-1.1, 1.1))

# Below 1 acosh is not real; a number drawn from it is larger.
LARGE: Final = Domain("large", lambda _max, _tiny: (1.0, 40.0))

ACTIVATED: Final = Domain(
    "activated", lambda _max, _tiny: (-4.0, 8.0), is_open=False, why="y of celu is never below -alpha"
)
ARCUS: Final = Domain(
    "arcus", lambda _max, _tiny: (-1.0, 1.0), is_open=False, why="outside, the inverse functions are not real"
)
PROBABILITY: Final = Domain(
    "probability", lambda _max, _tiny: (0.0, 1.0), is_open=False, parts=(2, 2), why="y of sigmoid is nothing else"
)

_EXPONENTIAL: Final = "outside, the exponential overflows or is subnormal, whose lost bits a large dy makes visible"
GROWTH: Final = Domain(
    "growth", lambda m, t: (math.log(t) + 1, math.log(m) - 1), is_open=False, parts=_CIRCULAR, why=_EXPONENTIAL
)
GROWTH_2: Final = Domain(
    "growth of 2", lambda m, t: (math.log2(t) + 1, math.log2(m) - 1), is_open=False, parts=_CIRCULAR, why=_EXPONENTIAL
)
RISING: Final = Domain(
    "rising", lambda m, _tiny: (1 - math.log(m), math.log(m) - 1), is_open=False, parts=_CIRCULAR, why=_EXPONENTIAL
)
WAVE: Final = Domain("wave", lambda _max, _tiny: (-8.0, 8.0), parts=_CIRCULAR)
POLES: Final = Domain("wave with poles", lambda _max, _tiny: (-8.0, 8.0), parts=_SQUARED)
FALLING: Final = Domain("falling", lambda _max, t: (-20.0, -_decay(t)), is_open=False, why=_EXPONENTIAL)
BELL: Final = Domain("bell", lambda _max, t: (_decay(t), -_decay(t)), is_open=False, parts=_SQUARED, why=_EXPONENTIAL)
GAUSS: Final = Domain(
    "gauss", lambda _max, t: (-math.sqrt(-_decay(t)), math.sqrt(-_decay(t))), is_open=False, why=_EXPONENTIAL
)
QUICK: Final = Domain("quick decay", lambda _max, t: (_decay(t) / 1.702, 20.0), is_open=False, why=_EXPONENTIAL)
SCALED_DECAY: Final = Domain("scaled decay", lambda _max, t: (_decay(t) / 2, 40.0), is_open=False, why=_EXPONENTIAL)
GAMMA: Final = Domain(
    "gamma",
    lambda _max, _tiny: (-20.0, 60.0),
    is_open=False,
    smallest=2.0**-40,
    why="the poles lie at 0 and to its left, further ones ever closer to the numbers of a type; near 0 the square of 1 / x is finite",
)
