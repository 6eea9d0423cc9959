"""The identity, the tests, the logical and bitwise ops: all exact."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.elementwise.domain import REAL
from ep_primitives.elementwise.formulas import test as formulas
from ep_primitives.elementwise.op import ALL, BITS, COMPLEXES, FLOATS, INTEGERS, NUMBERS, SIGNED, Op
from ep_primitives.judging.accuracy import INTEGRAL, MOVED

__all__ = ["IDENTITY", "TEST"]

_REAL: Final = (REAL,)

# fmt: off
IDENTITY: Final = Op(
    "identity", formulas.identity, ALL, MOVED, _REAL, "nan->nan inf->inf -inf->-inf 0->0 -0->-0 2->2",
    definition="x", source="OneFlow kIdentity", note="of a bool, 1 for every byte but 0",
)

TEST: Final = (
    Op("not_equal_zero", formulas.not_equal_zero, ALL, MOVED, _REAL, "nan->1 inf->1 -inf->1 0->0 -0->0 2->1",
       definition="1 where x != 0, else 0, of the type of x",
       source="OneFlow kNotEqualZero; IEEE 754: NaN differs from 0"),
    Op("logical_not", formulas.logical_not, ALL, INTEGRAL, _REAL, "nan->false inf->false 0->true -0->true 1->false",
       out="bool", definition="x == 0", source="OneFlow kLogicalNot; NaN is true, so its negation is false"),
    Op("is_inf", np.isinf, NUMBERS, INTEGRAL, _REAL, "nan->false inf->true -inf->true 0->false 1->false", out="bool",
       constant=INTEGERS, definition="x is an infinity; of a complex number either part", source="OneFlow kIsInf"),
    Op("is_nan", np.isnan, NUMBERS, INTEGRAL, _REAL, "nan->true inf->false -inf->false 0->false 1->false", out="bool",
       constant=INTEGERS, definition="x is NaN; of a complex number either part", source="OneFlow kIsNan"),
    Op("is_finite", np.isfinite, NUMBERS, INTEGRAL, _REAL, "nan->false inf->false -inf->false 0->true 1->true", out="bool",
       constant=INTEGERS, definition="x is neither infinite nor NaN; of a complex number both parts",
       source="OneFlow kIsFinite"),
    Op("nan_assign", formulas.nan_assign, (*FLOATS, *COMPLEXES), MOVED, _REAL,
       "nan->0 inf->inf -inf->-inf 0->0 -0->-0 2->2",
       definition="0 where x is NaN, else x; of a complex number where either part is", source="OneFlow kNanAssign"),
    Op("bitwise_not", np.invert, BITS, INTEGRAL, _REAL,
       definition="all bits inverted; of a bool the negation", source="OneFlow kBitwiseNot"),
    Op("signbit", formulas.signbit, (*SIGNED, *FLOATS), INTEGRAL, _REAL,
       "inf->false -inf->true 0->false -0->true 1->false -1->true", out="bool",
       definition="the sign bit of x", source="IEEE 754-2019, 5.7.2: isSignMinus; NumPy's and PyTorch's signbit",
       note="of zeros and NaN, too: the sign of a NaN is its sign bit", since="1.1"),
)
# fmt: on
