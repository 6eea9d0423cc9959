"""Functions of two floats that C and NumPy have, too: angles, lengths, logarithms of sums, signs, neighbours."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.elementwise.domain import REAL
from ep_primitives.elementwise.formulas import two_numbers as formulas
from ep_primitives.elementwise.op import FLOATS, Op
from ep_primitives.judging.accuracy import MOVED, OPENCL, Conditioned, Exact, Ulps

__all__ = ["TWO_NUMBERS"]

_REALS: Final = (REAL, REAL)
_OPENCL: Final = "OpenCL 1.2, table 7.1"
_NEXT: Final = Exact("the type has one next number in a direction")
_LOG_SUM: Final = (
    "S = |m| + (1 + d) log1p(e^-d): exp 3 ulp and log1p 2 ulp, as OpenCL 1.2 has them, and the rounding of d, which is absolute in "
    "e^-d; infinitely many roots, so no bound in ulps"
)

TWO_NUMBERS: Final = (
    Op(
        "atan2",
        np.arctan2,
        FLOATS,
        Ulps(6, why=OPENCL),
        _REALS,
        "nan,1->nan 1,nan->nan 0,1->0 -0,1->-0 0,0->0 -0,0->-0 1,inf->0 -1,inf->-0",
        error=2,
        definition="the angle of the point (b, a), from -pi to pi: a is y, b is x",
        source=f"{_OPENCL}; C17 F.10.1.4 for zeros and infinities",
        since="1.1",
    ),
    Op(
        "copysign",
        np.copysign,
        FLOATS,
        MOVED,
        _REALS,
        "nan,1->nan 1,-0->-1 -1,0->1 2,-inf->-2 inf,-1->-inf -inf,1->inf 0,-1->-0 -0,2->0 -3,-2->-3",
        definition="|a| with the sign of b",
        source="IEEE 754-2019, 5.5.1: copySign",
        note="the sign of a NaN b is that of its bits",
        since="1.1",
    ),
    Op(
        "hypot",
        formulas.hypot,
        FLOATS,
        Ulps(4, why=OPENCL),
        _REALS,
        "nan,1->nan 1,nan->nan inf,nan->inf nan,-inf->inf inf,1->inf -2,-inf->inf 0,-0->0 -0,-0->0 -2,0->2 0,-2->2",
        error=1,
        definition="sqrt(a^2 + b^2), where the squares overflow or vanish, too",
        source=f"{_OPENCL}; IEEE 754-2019, 9.2.1: infinite beside an infinity, also if the other is NaN",
        since="1.1",
    ),
    Op(
        "logaddexp",
        formulas.logaddexp,
        FLOATS,
        Conditioned(5, why=_LOG_SUM),
        _REALS,
        "nan,1->nan 1,nan->nan inf,nan->nan inf,-inf->inf inf,inf->inf -inf,-inf->-inf -inf,1->1 2,-inf->2",
        error=1,
        definition="log(e^a + e^b) = m + log1p(e^-d), m the larger of a and b, d = |a - b|; S = |m| + (1 + d) log1p(e^-d)",
        source="NumPy's and PyTorch's logaddexp",
        since="1.1",
    ),
    Op(
        "nextafter",
        formulas.nextafter,
        FLOATS,
        _NEXT,
        _REALS,
        "nan,1->nan 1,nan->nan 0,0->0 0,-0->-0 -0,0->0 1,1->1 inf,inf->inf -inf,-inf->-inf",
        definition="the number of the type that comes after a towards b; b where they are equal",
        source="C17 7.12.11.3",
        note="float16 and bfloat16 have their own numbers, and a number at launch is rounded to the type",
        typed=True,
        since="1.1",
    ),
)
