"""The activations."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.accuracy import EXACT, Ulps
from ep_primitives.domain import REAL, SIGMOID
from ep_primitives.formulas import activation as formulas
from ep_primitives.op import ALPHA, FLOATS, REALS, Op

__all__ = ["ACTIVATION"]

_REAL: Final = (REAL,)
_SIGMOID: Final = (SIGMOID,)

# The rounding of x / sqrt 2 is multiplied by x^2 in the far tail, where the values are tiny: hence an absolute floor.
GELU: Final = {
    "float16": Ulps(1),
    "bfloat16": Ulps(1),
    "float32": Ulps(8, floor=2.0**-26),
    "float64": Ulps(8, floor=2.0**-55),
}

# fmt: off
ACTIVATION: Final = (
    Op("elu",         formulas.elu,         FLOATS,  Ulps(4),   _SIGMOID,  "nan->nan inf->inf -inf->-alpha 0->0 -0->-0 2->2", (ALPHA,), error=2),
    Op("relu",        formulas.relu,        REALS, EXACT,     _REAL,     "nan->nan inf->inf -inf->0 0->0 -0->0 2->2 -2->0"),
    Op("gelu",        formulas.gelu,        FLOATS,  GELU,      _SIGMOID,  "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100 -100->-0", error=8),
    Op("tanh",        np.tanh,              FLOATS,  Ulps(5),   _SIGMOID,  "nan->nan inf->1 -inf->-1 0->0 -0->-0", error=2),
)
# fmt: on
