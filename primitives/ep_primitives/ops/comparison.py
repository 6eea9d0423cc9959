"""The comparisons, logical and bitwise ops."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.accuracy import EXACT
from ep_primitives.domain import REAL
from ep_primitives.op import ALL, BITS, Op

__all__ = ["COMPARISON"]

_REALS: Final = (REAL, REAL)

# fmt: off
COMPARISON: Final = (
    Op("equal",                   np.equal,               ALL,     EXACT,           _REALS,              "nan,nan->false nan,1->false 1,nan->false 0,-0->true inf,inf->true inf,-inf->false 1,1->true", out="bool"),
    Op("less_than",               np.less,                ALL,     EXACT,           _REALS,              "nan,nan->false nan,1->false 1,nan->false -0,0->false -inf,inf->true inf,inf->false 1,2->true", out="bool"),
    Op("bitwise_and",             np.bitwise_and,         BITS,    EXACT,           _REALS),
)
# fmt: on
