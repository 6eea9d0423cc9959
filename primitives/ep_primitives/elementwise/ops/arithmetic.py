"""The arithmetic of two operands."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.descriptors.attribute import Attribute, Legal
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.elementwise.formulas import arithmetic as formulas
from ep_primitives.elementwise.formulas import power, quotient
from ep_primitives.elementwise.formulas.extended import extended
from ep_primitives.elementwise.formulas.zeta import zeta
from ep_primitives.elementwise.op import ALL, COMPLEXES, FLOATS, NUMBERS, REALS, Op
from ep_primitives.judging.accuracy import CORRECT, MOVED, OPENCL, ROUNDED_ONCE, Conditioned, Exact, Ulps

__all__ = ["ARITHMETIC"]

_REALS: Final = (REAL, REAL)
_IEEE: Final = "IEEE 754-2019, 5.4.1; integers modulo 2^n"
_PRODUCT: Final = "sqrt 5 half ulps a part: Brent, Percival, Zimmermann, 'Error bounds on complex floating-point multiplication' (2007)"
_QUOTIENT: Final = "twice the product's bound and the scaling of Smith's algorithm"
_POWER: Final = "S = |a^b| (1 + |b log a|), because an error of b log a is absolute in it; 16 as of real numbers"
_REMAINDER: Final = Exact("the exact remainder, which the type holds, decides; then one rounding")

# Complex |b log a| stays below 88, where exp of a complex64 overflows.
_BASE: Final = Domain("base", lambda _max, _tiny: (-8.0, 8.0), smallest=2.0**-10, parts=(6, 9))
_EXPONENT: Final = Domain("exponent of a power", lambda _max, _tiny: (-8.0, 8.0), parts=(3, 5))

_POWERED: Final = Domain("powered", lambda _max, _tiny: (-16.0, 16.0))
_DECADES: Final = Domain("decades", lambda m, t: (np.log10(t) + 1, np.log10(m) - 1))
_FINITE_POWER: Final = "where x is finite and not 0 the power counts as finite and not 0, however large: only the whole product overflows or vanishes"

_SERIES: Final = (
    "left of 0 the terms (q + k)^-x alternate and cancel, and none has a small bound; q^-x of the rest is finite"
)
_ZETA: Final = (
    Domain("order above 1", lambda _max, _tiny: (1.0, 20.0), is_open=False, why=_SERIES),
    Domain("start above 0", lambda _max, _tiny: (0.0, 20.0), is_open=False, smallest=2.0**-6, why=_SERIES),
)

ARITHMETIC: Final = (
    Op(
        "add",
        np.add,
        ALL,
        ROUNDED_ONCE,
        _REALS,
        "nan,1->nan 1,nan->nan inf,-inf->nan inf,1->inf -0,-0->-0 -0,0->0 1,-1->0",
        definition="a + b; of bools a or b",
        source=_IEEE,
    ),
    Op(
        "sub",
        np.subtract,
        NUMBERS,
        ROUNDED_ONCE,
        _REALS,
        "nan,1->nan 1,nan->nan inf,inf->nan 1,inf->-inf -0,0->-0 0,-0->0 0,0->0 1,1->0",
        definition="a - b",
        source=_IEEE,
    ),
    Op(
        "mul",
        extended(np.multiply),
        ALL,
        {"": ROUNDED_ONCE, "complex": Ulps(3, why=_PRODUCT)},
        _REALS,
        "nan,0->nan 0,nan->nan inf,0->nan 0,-inf->nan -0,1->-0 -1,0->-0 -1,-0->0 inf,-1->-inf",
        error={"": 0.0, "complex": 2.0},
        definition="a b; of bools a and b",
        source=_IEEE,
    ),
    Op(
        "div",
        quotient.div,
        NUMBERS,
        {"": Ulps(0.5, why=CORRECT), "complex": Ulps(6, why=_QUOTIENT)},
        _REALS,
        "nan,1->nan 1,nan->nan 0,0->nan inf,inf->nan 1,0->inf 1,-0->-inf -1,0->-inf 1,-inf->-0 0,-1->-0",
        error={"": 0.0, "complex": 2.0},
        definition="a / b; integers truncate, x / 0 = 0, MIN / -1 = MIN",
        source=_IEEE,
        note="OneFlow crashes on an integer division by 0 and on MIN / -1",
    ),
    Op(
        "max",
        formulas.maximum,
        ("bool", *REALS),
        MOVED,
        _REALS,
        "nan,1->nan 1,nan->nan nan,inf->nan -inf,nan->nan -0,0->0 0,-0->0 -0,-0->-0 -inf,1->1 inf,1->inf",
        definition="the larger one, NaN if either is, +0 above -0",
        source="IEEE 754-2019, 9.6: maximum",
        note="OneFlow returns the second operand where the first is NaN",
    ),
    Op(
        "min",
        formulas.minimum,
        ("bool", *REALS),
        MOVED,
        _REALS,
        "nan,1->nan 1,nan->nan nan,-inf->nan inf,nan->nan -0,0->-0 0,-0->-0 0,0->0 -inf,1->-inf inf,1->1",
        definition="the smaller one, NaN if either is, -0 below +0",
        source="IEEE 754-2019, 9.6: minimum",
        note="OneFlow returns the second operand where the first is NaN",
    ),
    Op(
        "pow",
        formulas.power,
        (*REALS, *COMPLEXES),
        {"": Ulps(16, why=OPENCL), "complex": Conditioned(16, why=_POWER)},
        (_BASE, _EXPONENT),
        "1,nan->1 nan,0->1 nan,-0->1 nan,1->nan 2,nan->nan 0,0->1 -1,inf->1 -1,-inf->1 0,-1->inf -0,-1->-inf "
        "-0,-2->inf -0,3->-0 -0,2->0 0.5,inf->0 0.5,-inf->inf 2,inf->inf 2,-inf->0 -inf,3->-inf -inf,2->inf "
        "-inf,-3->-0 inf,-1->0 -8,0.5->nan",
        error=2,
        definition="a^b; of integers modulo 2^n, where 1^-n = 1, (-1)^-n = +-1, else x^-n = 0; complex: exp(b log a), 0^0 = 1",
        source="C17 F.10.4.4",
        note="OneFlow computes integer powers in double; PyTorch refuses negative integer exponents",
    ),
    Op(
        "fmod",
        quotient.fmod,
        REALS,
        _REMAINDER,
        _REALS,
        "nan,1->nan 1,nan->nan inf,1->nan inf,inf->nan 1,0->nan 0,0->nan 1,inf->1 -1,inf->-1 0,1->0 -0,1->-0 5,3->2 "
        "-5,3->-2 5,-3->2 -6,3->-0 6,-3->0",
        definition="a - b trunc(a / b), with the sign of a; of integers x mod 0 = x, MIN mod -1 = 0",
        source="C17 7.12.10.1; x mod 0 = x: Knuth, TAOCP 1.2.4",
        note="OneFlow crashes on an integer 0 and on MIN mod -1; its int8 goes through int",
    ),
    Op(
        "floor_div",
        quotient.floor_div,
        REALS,
        _REMAINDER,
        _REALS,
        "nan,1->nan 1,nan->nan inf,inf->nan 0,0->nan 1,0->inf -1,0->-inf 1,-0->-inf inf,2->inf -inf,2->-inf 1,inf->0 "
        "-1,inf->-1 1,-inf->-1 -1,-inf->0 0,1->0 -0,1->-0 0,-1->-0 0,inf->0 7,2->3 -7,2->-4 7,-2->-4 -1,3->-1",
        definition="floor(a / b) of the exact quotient, rounded once; of integers x / 0 = 0, MIN / -1 = MIN",
        source="Knuth, TAOCP 1.2.4; the exact remainder decides, as in Python's float.__floordiv__",
        note="OneFlow truncates integers and floors the rounded float quotient; at inf / b PyTorch gives NaN, here and in OneFlow +-inf",
    ),
    Op(
        "trunc_div",
        quotient.trunc_div,
        REALS,
        _REMAINDER,
        _REALS,
        "nan,1->nan 1,nan->nan inf,inf->nan 0,0->nan 1,0->inf -1,0->-inf 1,-0->-inf inf,2->inf -inf,2->-inf 1,inf->0 "
        "-1,inf->-0 0,1->0 -0,1->-0 0,-1->-0 7,2->3 -7,2->-3 7,-2->-3 -1,3->-0",
        definition="trunc(a / b) of the exact quotient, rounded once; of integers x / 0 = 0, MIN / -1 = MIN",
        source="the exact remainder decides, as in floor_div",
        note="OneFlow and PyTorch truncate the rounded quotient, which can be one too large",
    ),
    Op(
        "floor_mod",
        quotient.floor_mod,
        REALS,
        _REMAINDER,
        _REALS,
        "nan,1->nan 1,nan->nan inf,1->nan inf,inf->nan 1,0->nan 0,0->nan 1,inf->1 -1,inf->inf 1,-inf->-inf -1,-inf->-1 "
        "0,1->0 -0,1->0 0,-1->-0 5,3->2 -5,3->1 5,-3->-1 -6,3->0 6,-3->-0",
        definition="a - b floor(a / b), rounded once, zeros too with the sign of b; of integers x mod 0 = x",
        source="Knuth, TAOCP 1.2.4; Python's float.__mod__",
        note="OneFlow crashes on an integer 0; its zeros have the sign of a",
    ),
    Op(
        "scalar_base_power_grad",
        power.scalar_base_power_grad,
        FLOATS,
        Ulps(36, why="twice pow's 16 ulp and two products, none of which is rounded before the last"),
        (_POWERED, REAL),
        "1,nan->nan 1,1->exponent 1,-1->-exponent",
        (Attribute("exponent", (2.0, 0.5, -1.5, 3.0, 1.0, 0.0)),),
        error=4,
        definition="dy p x^(p - 1), a = x, b = dy; dy 0 where p is 0",
        source="OneFlow ScalarBasePowerGrad",
        note=f"at p = 0 and x = 0 OneFlow gives NaN; here, as in PyTorch, 0; {_FINITE_POWER}",
    ),
    Op(
        "scalar_exp_power_grad",
        power.scalar_exp_power_grad,
        FLOATS,
        Ulps(40, why="twice pow's 16 ulp, log's 3 and two products, none of which is rounded before the last"),
        (_DECADES, REAL),
        "nan,1->nan 1,nan->nan",
        (Attribute("base", (2.0, 0.5, 10.0, 1.5), legal=Legal.POSITIVE),),
        error=4,
        definition="dy b^x log b, a = x, b = dy",
        source="OneFlow ScalarExpPowerGrad",
        note=f"OneFlow narrows integers to int and computes in float; a base of 0 or less has no logarithm; {_FINITE_POWER}",
    ),
    Op(
        "zeta",
        zeta,
        FLOATS,
        Ulps(32, why="pow's 16 ulp of the leading term and the sum of the series"),
        _ZETA,
        "nan,1->nan 2,nan->nan 1,2->inf 0.5,2->nan -3,2->nan 2,0->inf 2,-1->inf 3,-4->inf 1.5,-0.5->nan",
        error=8,
        definition="the sum of (q + k)^-x over k >= 0, a = x, b = q",
        source="Cephes zeta.c",
    ),
)
