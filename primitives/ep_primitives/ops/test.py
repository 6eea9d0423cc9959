"""The tests, logical and bitwise ops, and the identity."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.accuracy import EXACT
from ep_primitives.domain import REAL
from ep_primitives.formulas import test as formulas
from ep_primitives.op import ALL, BITS, NUMBERS, Op

__all__ = ["TEST"]

_REAL: Final = (REAL,)

# fmt: off
TEST: Final = (
    Op("logical_not", formulas.logical_not, ALL,     EXACT,     _REAL,     "nan->false inf->false 0->true -0->true 1->false", out="bool"),
    Op("is_nan",      np.isnan,             NUMBERS,  EXACT,     _REAL,     "nan->true inf->false -inf->false 0->false 1->false", out="bool"),
    Op("bitwise_not", np.invert,            BITS,    EXACT,     _REAL),
)
# fmt: on
