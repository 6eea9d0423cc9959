"""The functions of one number."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.accuracy import EXACT, Ulps
from ep_primitives.domain import EXPONENT, POSITIVE, REAL
from ep_primitives.op import FLOATS, REALS, Op

__all__ = ["MATH"]

_REAL: Final = (REAL,)
_POSITIVE: Final = (POSITIVE,)
_EXPONENT: Final = (EXPONENT,)

# fmt: off
MATH: Final = (
    Op("abs",         np.abs,               REALS, EXACT,     _REAL,     "nan->nan inf->inf -inf->inf 0->0 -0->0 2->2 -2->2"),
    Op("exp",         np.exp,               FLOATS,  Ulps(3),   _EXPONENT, "nan->nan inf->inf -inf->0 0->1 -0->1", error=1),
    Op("floor",       np.floor,             FLOATS,  EXACT,     _REAL,     "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-1 1->1"),
    Op("log",         np.log,               FLOATS,  Ulps(3),   _POSITIVE, "nan->nan inf->inf -inf->nan 0->-inf -0->-inf 1->0 -1->nan", error=1),
    Op("negative",    np.negative,          REALS, EXACT,     _REAL,     "nan->nan inf->-inf -inf->inf 0->-0 -0->0 2->-2"),
    Op("sqrt",        np.sqrt,              FLOATS,  Ulps(0.5), _POSITIVE, "nan->nan inf->inf -inf->nan 0->0 -0->-0 1->1 4->2 -1->nan"),
)
# fmt: on
