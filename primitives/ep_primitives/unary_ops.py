"""The unary ops, one row each, in the order of ops.csv.

Definitions are OneFlow's (its `UnaryOp` functors) with these differences, where it is defective or leaves it open:

- gelu(-inf) is the limit -0, not the NaN of -inf * 0. elu uses expm1, because e^x - 1 has no correct digit near 0.
- abs and negative of the smallest integer wrap to itself.

Sources of the bounds: exp, log (3) and tanh (5) are the OpenCL 1.2 full profile, table 7.1, and so is float64; sqrt is
correctly rounded (IEEE 754). elu adds the product's half ulp to expm1's 3. gelu: 0.5 x erfc(-x / sqrt 2) in its own
precision; `GELU` says how its bound was found.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives import formulas
from ep_primitives.accuracy import EXACT, Ulps
from ep_primitives.domain import EXPONENT, POSITIVE, REAL, SIGMOID
from ep_primitives.op import ALL, ALPHA, BITS, FLOATS, NUMBERS, Op

__all__ = ["UNARY_OPS"]


_REAL: Final = (REAL,)
_POSITIVE: Final = (POSITIVE,)
_EXPONENT: Final = (EXPONENT,)
_SIGMOID: Final = (SIGMOID,)

# The rounding of x / sqrt 2 is multiplied by x^2 in the far tail, where the values are tiny: hence an absolute floor.
GELU: Final = {"float16": Ulps(1), "float32": Ulps(8, floor=2.0**-26), "float64": Ulps(8, floor=2.0**-55)}

# fmt: off
_ROWS: Final = (
    #  name           reference             dtypes   accuracy   domain     special values
    Op("elu",         formulas.elu,         FLOATS,  Ulps(4),   _SIGMOID,  "nan->nan inf->inf -inf->-alpha 0->0 -0->-0 2->2", (ALPHA,), error=2),
    Op("relu",        formulas.relu,        NUMBERS, EXACT,     _REAL,     "nan->nan inf->inf -inf->0 0->0 -0->0 2->2 -2->0"),
    Op("gelu",        formulas.gelu,        FLOATS,  GELU,      _SIGMOID,  "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100 -100->-0", error=8),
    Op("tanh",        np.tanh,              FLOATS,  Ulps(5),   _SIGMOID,  "nan->nan inf->1 -inf->-1 0->0 -0->-0", error=2),
    Op("abs",         np.abs,               NUMBERS, EXACT,     _REAL,     "nan->nan inf->inf -inf->inf 0->0 -0->0 2->2 -2->2"),
    Op("exp",         np.exp,               FLOATS,  Ulps(3),   _EXPONENT, "nan->nan inf->inf -inf->0 0->1 -0->1", error=1),
    Op("floor",       np.floor,             FLOATS,  EXACT,     _REAL,     "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-1 1->1"),
    Op("log",         np.log,               FLOATS,  Ulps(3),   _POSITIVE, "nan->nan inf->inf -inf->nan 0->-inf -0->-inf 1->0 -1->nan", error=1),
    Op("negative",    np.negative,          NUMBERS, EXACT,     _REAL,     "nan->nan inf->-inf -inf->inf 0->-0 -0->0 2->-2"),
    Op("sqrt",        np.sqrt,              FLOATS,  Ulps(0.5), _POSITIVE, "nan->nan inf->inf -inf->nan 0->0 -0->-0 1->1 4->2 -1->nan"),
    Op("logical_not", formulas.logical_not, ALL,     EXACT,     _REAL,     "nan->false inf->false 0->true -0->true 1->false", out="bool"),
    Op("is_nan",      np.isnan,             FLOATS,  EXACT,     _REAL,     "nan->true inf->false -inf->false 0->false 1->false", out="bool"),
    Op("bitwise_not", np.invert,            BITS,    EXACT,     _REAL),
)
# fmt: on

UNARY_OPS: Final = {row.name: row for row in _ROWS}
"""The rows by name."""
