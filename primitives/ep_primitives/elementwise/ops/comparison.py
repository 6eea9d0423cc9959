"""The comparisons, logical and bitwise ops, and shifts."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.descriptors.attribute import Attribute, Legal
from ep_primitives.elementwise.domain import REAL
from ep_primitives.elementwise.formulas import comparison as formulas
from ep_primitives.elementwise.formulas import shift
from ep_primitives.elementwise.op import ALL, BITS, INTEGERS, REALS, Op
from ep_primitives.judging.accuracy import INTEGRAL

__all__ = ["COMPARISON"]

_REALS: Final = (REAL, REAL)
_ORDERED: Final = ("bool", *REALS)
_IEEE: Final = "IEEE 754-2019, 5.11"
_ONEFLOW: Final = "OneFlow's functor"
_SHIFT: Final = "NumPy's left_shift and right_shift; ONNX BitShift"
_COUNT: Final = (
    "a count outside the type's n bits, which C leaves undefined, shifts all of them out, as in NumPy and PyTorch"
)

_TOLERANCE: Final = (
    Attribute("atol", (1e-8, 0.5, 2.0, 0.0), 1e-8, "NumPy and PyTorch", wide=True, legal=Legal.NOT_NEGATIVE),
    Attribute("rtol", (1e-5, 0.25, 0.0, 0.01), 1e-5, "NumPy and PyTorch", wide=True, legal=Legal.NOT_NEGATIVE),
)
_CLOSE: Final = (
    "nan,1->false 1,nan->false inf,nan->false inf,inf->true -inf,-inf->true inf,-inf->false inf,1->false 1,inf->false "
    "-8,8->false 1,1->true 0,-0->true"
)
_CLOSE_NOTE: Final = (
    "OneFlow and PyTorch use the element type. The difference of integers is exact, and beyond 2^53 it and |b| are rounded to "
    "float64 before they meet the tolerance: without one only equal integers are close, with one an answer next to the bound may "
    "be that of the rounded numbers"
)

# fmt: off
COMPARISON: Final = (
    Op("equal",         np.equal,         ALL,      INTEGRAL, _REALS, "nan,nan->false nan,1->false 1,nan->false 0,-0->true inf,inf->true inf,-inf->false 1,1->true", out="bool", definition="a == b", source=_IEEE),
    Op("not_equal",     np.not_equal,     ALL,      INTEGRAL, _REALS, "nan,nan->true nan,1->true 1,nan->true 0,-0->false inf,inf->false inf,-inf->true 1,1->false", out="bool", definition="a != b", source=_IEEE),
    Op("less_than",     np.less,          _ORDERED, INTEGRAL, _REALS, "nan,nan->false nan,1->false 1,nan->false -0,0->false -inf,inf->true inf,inf->false 1,2->true", out="bool", definition="a < b", source=_IEEE),
    Op("less_equal",    np.less_equal,    _ORDERED, INTEGRAL, _REALS, "nan,nan->false nan,1->false 1,nan->false 0,-0->true -inf,inf->true inf,inf->true 2,1->false", out="bool", definition="a <= b", source=_IEEE),
    Op("greater_than",  np.greater,       _ORDERED, INTEGRAL, _REALS, "nan,nan->false nan,1->false 1,nan->false 0,-0->false inf,-inf->true inf,inf->false 2,1->true", out="bool", definition="a > b", source=_IEEE),
    Op("greater_equal", np.greater_equal, _ORDERED, INTEGRAL, _REALS, "nan,nan->false nan,1->false 1,nan->false -0,0->true inf,-inf->true inf,inf->true 1,2->false", out="bool", definition="a >= b", source=_IEEE),
    Op("is_close",      formulas.is_close, REALS,   INTEGRAL, _REALS, f"nan,nan->false {_CLOSE}", _TOLERANCE, out="bool", definition="a == b, or |a - b| is finite and at most atol + rtol |b|; float64, operation by operation, of integers with the exact |a - b|", source=_ONEFLOW, note=_CLOSE_NOTE),
    Op("is_close_equal_nan", formulas.is_close_equal_nan, REALS, INTEGRAL, _REALS, f"nan,nan->true {_CLOSE}", _TOLERANCE, out="bool", definition="is_close, and two NaN are close", source=_ONEFLOW, note=_CLOSE_NOTE),
    Op("logical_and",   np.logical_and,   ALL,      INTEGRAL, _REALS, "nan,1->true nan,0->false 1,-0->false 0,0->false inf,1->true 1,1->true", out="bool", definition="a != 0 and b != 0; NaN is true", source=_ONEFLOW),
    Op("logical_or",    np.logical_or,    ALL,      INTEGRAL, _REALS, "nan,0->true 0,nan->true 0,-0->false -0,-0->false 0,inf->true 1,1->true", out="bool", definition="a != 0 or b != 0; NaN is true", source=_ONEFLOW),
    Op("logical_xor",   np.logical_xor,   ALL,      INTEGRAL, _REALS, "nan,0->true nan,1->false 0,-0->false -0,1->true inf,1->false 1,1->false", out="bool", definition="(a != 0) != (b != 0); NaN is true", source=_ONEFLOW),
    Op("bitwise_and",   np.bitwise_and,   BITS,     INTEGRAL, _REALS, definition="the bits of both, two's complement; of bools a and b", source=_ONEFLOW),
    Op("bitwise_or",    np.bitwise_or,    BITS,     INTEGRAL, _REALS, definition="the bits of either, two's complement; of bools a or b", source=_ONEFLOW),
    Op("bitwise_xor",   np.bitwise_xor,   BITS,     INTEGRAL, _REALS, definition="the bits of one alone, two's complement; of bools a != b", source=_ONEFLOW),
    Op("shift_left", shift.shift_left, INTEGERS, INTEGRAL, _REALS, definition="a 2^b modulo 2^n; 0 where b is negative, or n or more", source=_SHIFT, note=_COUNT, since="1.1"),
    Op("shift_right", shift.shift_right, INTEGERS, INTEGRAL, _REALS, definition="floor(a / 2^b); where b is negative, or n or more, -1 of a negative a and else 0", source=_SHIFT, note=_COUNT, since="1.1"),
)
# fmt: on
