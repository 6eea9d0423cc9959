"""The arithmetic of two operands."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.accuracy import EXACT, Ulps
from ep_primitives.domain import REAL
from ep_primitives.formulas import arithmetic as formulas
from ep_primitives.op import ALL, NUMBERS, REALS, Op

__all__ = ["ARITHMETIC"]

_REALS: Final = (REAL, REAL)

# fmt: off
ARITHMETIC: Final = (
    Op("add",                     np.add,                 ALL,     EXACT,           _REALS,              "nan,1->nan 1,nan->nan inf,-inf->nan inf,1->inf -0,-0->-0 -0,0->0 1,-1->0"),
    Op("sub",                     np.subtract,            NUMBERS, EXACT,           _REALS,              "nan,1->nan 1,nan->nan inf,inf->nan 1,inf->-inf -0,0->-0 0,-0->0 0,0->0 1,1->0"),
    Op("mul",                     np.multiply,            ALL,     EXACT,           _REALS,              "nan,0->nan 0,nan->nan inf,0->nan 0,-inf->nan -0,1->-0 -1,0->-0 -1,-0->0 inf,-1->-inf"),
    Op("div",                     formulas.div,           NUMBERS, Ulps(0.5),       _REALS,              "nan,1->nan 1,nan->nan 0,0->nan inf,inf->nan 1,0->inf 1,-0->-inf -1,0->-inf 1,-inf->-0 0,-1->-0"),
    Op("max",                     formulas.maximum,       REALS,   EXACT,           _REALS,              "nan,1->nan 1,nan->nan nan,inf->nan -inf,nan->nan -0,0->0 0,-0->0 -0,-0->-0 -inf,1->1 inf,1->inf"),
    Op("min",                     formulas.minimum,       REALS,   EXACT,           _REALS,              "nan,1->nan 1,nan->nan nan,-inf->nan inf,nan->nan -0,0->-0 0,-0->-0 0,0->0 -inf,1->-inf inf,1->1"),
)
# fmt: on
