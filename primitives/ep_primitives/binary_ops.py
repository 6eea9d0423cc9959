"""The binary ops, one row each, in the order of ops.csv.

Definitions are OneFlow's (its `BinaryOp` functors) with these differences, where it is defective or leaves it open:

- max and min: a NaN on either side wins (OneFlow drops one in the first operand), and +0 is larger than -0.
- integer div truncates, x / 0 is 0 and MIN / -1 is MIN (OneFlow crashes); bool add is or, bool mul is and.
- gelu_backward at an infinite x has the limits dy and 0 (OneFlow: NaN).

Sources of the bounds: add, sub, mul, div are correctly rounded (IEEE 754). elu_backward is exp's 3 ulp of OpenCL 1.2,
table 7.1, and two products. tanh_backward rounds y^2, the difference and the product: at most 3 half ulps of its
terms. gelu_backward is OpenCL's 16 ulp of erf on a term of at most half of S, and exp(-x^2/2) with x^2 rounded.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives import formulas
from ep_primitives.accuracy import EXACT, Conditioned, Ulps
from ep_primitives.domain import DECAY, GRADIENT, REAL, SIGMOID, UNIT
from ep_primitives.op import ALL, ALPHA, BITS, FLOATS, NUMBERS, Op

__all__ = ["BINARY_OPS"]

_REALS: Final = (REAL, REAL)

# fmt: off
_ROWS: Final = (
    #  name                       reference               dtypes   accuracy         domain               special values
    Op("add",                     np.add,                 ALL,     EXACT,           _REALS,              "nan,1->nan 1,nan->nan inf,-inf->nan inf,1->inf -0,-0->-0 -0,0->0 1,-1->0"),
    Op("sub",                     np.subtract,            NUMBERS, EXACT,           _REALS,              "nan,1->nan 1,nan->nan inf,inf->nan 1,inf->-inf -0,0->-0 0,-0->0 0,0->0 1,1->0"),
    Op("mul",                     np.multiply,            ALL,     EXACT,           _REALS,              "nan,0->nan 0,nan->nan inf,0->nan 0,-inf->nan -0,1->-0 -1,0->-0 -1,-0->0 inf,-1->-inf"),
    Op("div",                     formulas.div,           NUMBERS, Ulps(0.5),       _REALS,              "nan,1->nan 1,nan->nan 0,0->nan inf,inf->nan 1,0->inf 1,-0->-inf -1,0->-inf 1,-inf->-0 0,-1->-0"),
    Op("max",                     formulas.maximum,       ALL,     EXACT,           _REALS,              "nan,1->nan 1,nan->nan nan,inf->nan -inf,nan->nan -0,0->0 0,-0->0 -0,-0->-0 -inf,1->1 inf,1->inf"),
    Op("min",                     formulas.minimum,       ALL,     EXACT,           _REALS,              "nan,1->nan 1,nan->nan nan,-inf->nan inf,nan->nan -0,0->-0 0,-0->-0 0,0->0 -inf,1->-inf inf,1->1"),
    Op("equal",                   np.equal,               ALL,     EXACT,           _REALS,              "nan,nan->false nan,1->false 1,nan->false 0,-0->true inf,inf->true inf,-inf->false 1,1->true", out="bool"),
    Op("less_than",               np.less,                ALL,     EXACT,           _REALS,              "nan,nan->false nan,1->false 1,nan->false -0,0->false -inf,inf->true inf,inf->false 1,2->true", out="bool"),
    Op("bitwise_and",             np.bitwise_and,         BITS,    EXACT,           _REALS),
    Op("elu_backward_with_dy_x",  formulas.elu_backward,  FLOATS,  Ulps(4),         (GRADIENT, DECAY),   "nan,1->nan 1,nan->nan 2,inf->2 2,-inf->0 1,0->alpha -1,-0->-alpha 0,1->0 -0,1->-0", (ALPHA,), error=3),
    Op("gelu_backward_with_dy_x", formulas.gelu_backward, FLOATS,  Conditioned(16), (GRADIENT, SIGMOID), "nan,1->nan 1,nan->nan 2,inf->2 2,-inf->0 1,0->0.5 -1,-0->-0.5", error=8),
    Op("tanh_backward_with_dy_y", formulas.tanh_backward, FLOATS,  Conditioned(4),  (GRADIENT, UNIT),    "nan,0->nan 1,nan->nan 2,0->2 2,-0->2 2,1->0 2,-1->0 2,0.5->1.5 inf,0->inf", error=2),
)
# fmt: on

BINARY_OPS: Final = {row.name: row for row in _ROWS}
"""The rows by name."""
