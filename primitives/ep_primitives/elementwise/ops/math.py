"""The functions of one number.

Sources of the bounds: IEEE 754 where a result is correctly rounded; else OpenCL 1.2 full profile, table 7.1, whose
bounds for float32 hold for float64, too. Bounds of complex functions are in ulps of |z|: 4 for functions made of real
arithmetic and square roots, 8 for the others. Their parts are 0 or 2^-60 ... 2^60 (complex64),
2^-500 ... 2^500 (complex128), so that no square of one overflows or vanishes, and at most 2^6 and 2^9 for exponential
and circular functions.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.elementwise.domain import (
    ANGLE,
    BEYOND_ONE,
    COSINE,
    EXPONENT,
    EXPONENT2,
    HYPERBOLIC,
    POSITIVE,
    REAL,
    SHIFTED,
    SIGMOID,
    TAIL,
)
from ep_primitives.elementwise.formulas import complex as complex_formulas
from ep_primitives.elementwise.formulas import math as formulas
from ep_primitives.elementwise.formulas.extended import extended
from ep_primitives.elementwise.op import COMPLEXES, FLOATS, NUMBERS, REALS, Op
from ep_primitives.judging.accuracy import CORRECT, MOVED, OF_COMPLEX, OPENCL, Accuracy, Conditioned, Exact, Ulps

__all__ = ["MATH"]

_BOTH: Final = (*FLOATS, *COMPLEXES)
_REAL: Final = (REAL,)
_POSITIVE: Final = (POSITIVE,)
_EXPONENT: Final = (EXPONENT,)
_SIGMOID: Final = (SIGMOID,)
_COSINE: Final = (COSINE,)
_ANGLE: Final = (ANGLE,)
_HYPERBOLIC: Final = (HYPERBOLIC,)

# Real numbers are rounded once; of complex ones each part is, and the larger unit of |z| need not be theirs.
_PARTS: Final = {"": 0.0, "complex": 2.0}
_OPENCL: Final = "OpenCL 1.2, table 7.1"
_ODD: Final = "nan->nan 0->0 -0->-0 "


_COMPLEX: Final = {
    2: "scaling and one root; hypot of OpenCL 1.2 is 4 ulp",
    4: "real arithmetic and roots of the parts",
    6: "real arithmetic, roots and quotients of the parts",
    8: OF_COMPLEX,
}
_ROOTS: Final = (
    "infinitely many roots, so no bound in ulps; 16 as OpenCL 1.2 gives tgamma, over the terms of the definition"
)
_WHOLE: Final = Exact("every integer between two numbers of a type is one itself")


def _within(ulps: float, of_complex: float = 8, why: str = OPENCL) -> dict[str, Accuracy]:
    return {"": Ulps(ulps, why=why), "complex": Ulps(of_complex, why=_COMPLEX[int(of_complex)])}


# fmt: off
MATH: Final = (
    Op("abs", extended(np.abs), (*REALS, *COMPLEXES), {"": MOVED, "complex": Ulps(2, why=_COMPLEX[2])}, _REAL,
       "nan->nan inf->inf -inf->inf 0->0 -0->0 2->2 -2->2", out="real", error=1,
       definition="|x|; of a complex number sqrt(re^2 + im^2)",
       source="OneFlow kAbs",
       note="the smallest integer wraps to itself; unsigned integers stay; complex numbers give reals"),
    Op("acos", extended(np.arccos), _BOTH, _within(4), _COSINE,
       "nan->nan inf->nan -inf->nan 2->nan -2->nan 1->0", error=2,
       definition="arc cosine; NaN outside [-1, 1]", source=_OPENCL),
    Op("acosh", extended(np.arccosh), _BOTH, _within(4), (BEYOND_ONE,),
       "nan->nan inf->inf -inf->nan 1->0 0.5->nan 0->nan -2->nan", error=2,
       definition="log(x + sqrt(x^2 - 1)); NaN below 1", source=_OPENCL),
    Op("asin", extended(np.arcsin), _BOTH, _within(4), _COSINE,
       _ODD + "inf->nan -inf->nan 2->nan -2->nan", error=2,
       definition="arc sine; NaN outside [-1, 1]", source=_OPENCL),
    Op("asinh", extended(np.arcsinh), _BOTH, _within(4), _REAL,
       _ODD + "inf->inf -inf->-inf", error=2,
       definition="log(x + sqrt(x^2 + 1))", source=_OPENCL),
    Op("atan", extended(np.arctan), _BOTH, _within(5), _REAL, _ODD, error=2,
       definition="arc tangent", source=_OPENCL),
    Op("atanh", extended(np.arctanh), _BOTH, _within(5), _COSINE,
       _ODD + "1->inf -1->-inf 2->nan -2->nan inf->nan -inf->nan", error=2,
       definition="0.5 log((1 + x) / (1 - x)); NaN outside [-1, 1]", source=_OPENCL),
    Op("ceil", np.ceil, FLOATS, _WHOLE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->1 -0.5->-0 1->1",
       definition="the smallest integer that is not less than x", source="IEEE 754"),
    Op("cos", extended(np.cos, formulas.accurate(np.cos)), _BOTH, _within(4), _ANGLE,
       "nan->nan inf->nan -inf->nan 0->1 -0->1", error=2,
       definition="cosine, of every finite x", source=_OPENCL),
    Op("cosh", extended(np.cosh), _BOTH, _within(4), _HYPERBOLIC,
       "nan->nan inf->inf -inf->inf 0->1 -0->1", error=2,
       definition="(e^x + e^-x) / 2", source=_OPENCL),
    Op("digamma", formulas.digamma, FLOATS, Conditioned(16, why=_ROOTS), _REAL,
       "nan->nan inf->inf -inf->nan 0->-inf -0->inf -1->nan -2->nan", error=16,
       definition="psi(x) = d/dx log Gamma(x); S = 1 + |psi(x)|, below 0 with 2 log(1 + |x|) more",
       source="OneFlow kDigamma; NIST DLMF 5.5.2 and 5.5.4",
       note="0 and -0 give the one-sided limits, as PyTorch; other poles NaN"),
    Op("trigamma", formulas.trigamma, FLOATS, Ulps(16, why="all terms are positive; 16 as OpenCL 1.2 gives tgamma"), _REAL,
       "nan->nan inf->0 -inf->nan 0->inf -0->inf -1->inf -2->inf", error=8,
       definition="psi'(x), the sum of 1 / (x + k)^2 over k >= 0",
       source="OneFlow kTrigamma; NIST DLMF 5.15.1 and 5.15.6",
       note="poles give infinity; PyTorch gives a large number at negative integers, because its sin(pi x) is not 0"),
    Op("erf", formulas.erf, FLOATS, Ulps(16, why=OPENCL), _REAL, _ODD + "inf->1 -inf->-1", error=2,
       definition="2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x", source=_OPENCL),
    Op("erfc", formulas.erfc, FLOATS, Ulps(16, why=OPENCL), (TAIL,),
       "nan->nan inf->0 -inf->2 0->1 -0->1", error=4,
       definition="1 - erf(x)", source=_OPENCL),
    Op("exp", extended(np.exp), _BOTH, _within(3), _EXPONENT,
       "nan->nan inf->inf -inf->0 0->1 -0->1", error=1,
       definition="e^x", source=_OPENCL),
    Op("exp2", extended(complex_formulas.exp2, np.exp2), _BOTH, _within(3), (EXPONENT2,),
       "nan->nan inf->inf -inf->0 0->1 -0->1", error=1,
       definition="2^x", source=_OPENCL),
    Op("expm1", extended(complex_formulas.expm1, np.expm1), _BOTH, _within(3), _EXPONENT,
       _ODD + "inf->inf -inf->-1", error=1,
       definition="e^x - 1", source=_OPENCL),
    Op("floor", np.floor, FLOATS, _WHOLE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-1 1->1",
       definition="the largest integer that is not more than x", source="IEEE 754"),
    Op("lgamma", formulas.lgamma, FLOATS, Conditioned(16, why=_ROOTS), _REAL,
       "nan->nan inf->inf -inf->inf 0->inf -0->inf -1->inf 1->0 2->0", error=16,
       definition="log |Gamma(x)|; S = 1 + |log |Gamma(x)||, below 0 with the terms of its reflection more: log |x|, "
                  "log |sin pi x| and log Gamma(-x)",
       source="OneFlow kLgamma; C99 F.9.5.3; NIST DLMF 5.5.3"),
    Op("log", extended(np.log), _BOTH, _within(3), _POSITIVE,
       "nan->nan inf->inf -inf->nan 0->-inf -0->-inf 1->0 -1->nan", error=1,
       definition="natural logarithm", source=_OPENCL),
    Op("log2", extended(complex_formulas.log2, np.log2), _BOTH, _within(3), _POSITIVE,
       "nan->nan inf->inf -inf->nan 0->-inf -0->-inf 1->0 -1->nan", error=1,
       definition="logarithm to base 2", source=_OPENCL),
    Op("log10", extended(complex_formulas.log10, np.log10), _BOTH, _within(3), _POSITIVE,
       "nan->nan inf->inf -inf->nan 0->-inf -0->-inf 1->0 -1->nan", error=2,
       definition="logarithm to base 10", source=_OPENCL),
    Op("log1p", extended(complex_formulas.log1p, np.log1p), _BOTH, _within(2), (SHIFTED,),
       _ODD + "inf->inf -inf->nan -1->-inf -2->nan", error=1,
       definition="log(1 + x)", source=_OPENCL),
    Op("log_sigmoid", formulas.log_sigmoid, FLOATS,
       Ulps(5, why="log1p 2 ulp of exp 3 ulp, and a sum of equal signs"), _SIGMOID,
       "nan->nan inf->-0 -inf->-inf", error=3,
       definition="-log(1 + e^-x) = min(x, 0) - log1p(e^-|x|)",
       source="OneFlow kLogSigmoid",
       note="OneFlow overflows to -inf for very negative x"),
    Op("negative", np.negative, NUMBERS, MOVED, _REAL,
       "nan->nan inf->-inf -inf->inf 0->-0 -0->0 2->-2",
       definition="-x", source="IEEE 754",
       note="integers wrap: the smallest one stays, unsigned ones give 2^n - x"),
    Op("reciprocal", extended(formulas.reciprocal), _BOTH, _within(0.5, 6, why=CORRECT), _REAL,
       "nan->nan inf->0 -inf->-0 0->inf -0->-inf 2->0.5", error=_PARTS,
       definition="1 / x", source="IEEE 754"),
    Op("reciprocal_no_nan", extended(formulas.reciprocal_no_nan), _BOTH, _within(0.5, 6, why=CORRECT), _REAL,
       "nan->nan inf->0 -inf->-0 0->0 -0->0 2->0.5", error=_PARTS,
       definition="1 / x, and 0 where x is 0", source="OneFlow kReciprocalNoNan; IEEE 754"),
    Op("rint", np.rint, FLOATS, _WHOLE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-0 1.5->2 -2.5->-2",
       definition="the nearest integer, the even one of two", source="IEEE 754"),
    Op("round", np.rint, FLOATS, _WHOLE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-0 1.5->2 -2.5->-2",
       definition="the nearest integer, the even one of two", source="OneFlow kRound; IEEE 754",
       note="the same as rint, as in OneFlow and PyTorch; C's round takes halves away from 0"),
    Op("rsqrt", extended(formulas.rsqrt), _BOTH, _within(2, 6), _POSITIVE,
       "nan->nan inf->0 -inf->nan 0->inf -0->-inf 4->0.5 -1->nan", error=2,
       definition="1 / sqrt(x)", source=_OPENCL),
    Op("sigmoid", extended(complex_formulas.sigmoid, formulas.sigmoid), _BOTH,
       _within(5, why="exp 3 ulp, a sum and a quotient"), _SIGMOID,
       "nan->nan inf->1 -inf->0 0->0.5 -0->0.5", error=3,
       definition="1 / (1 + e^-x)",
       source="OneFlow kSigmoid",
       note="below -log(largest) the values are e^x, not the 0 of 1 / inf"),
    Op("sign", extended(complex_formulas.sign, formulas.sign), NUMBERS, {"": MOVED, "complex": Ulps(4, why=_COMPLEX[4])}, _REAL,
       "nan->nan inf->1 -inf->-1 0->0 -0->-0 2->1 -2->-1", error=1,
       definition="-1, 0 or 1; of a complex number z / |z|, of 0 itself",
       source="OneFlow kSign; PyTorch's sgn for complex numbers",
       note="of 0 the 0 itself, so that sign(-z) = -sign(z) and z = |z| sign(z) hold for every z, whatever the signs of its zeros; "
            "OneFlow gives 0 for NaN"),
    Op("sin", extended(np.sin, formulas.accurate(np.sin)), _BOTH, _within(4), _ANGLE,
       _ODD + "inf->nan -inf->nan", error=2,
       definition="sine, of every finite x", source=_OPENCL),
    Op("sinh", extended(np.sinh), _BOTH, _within(4), _HYPERBOLIC,
       _ODD + "inf->inf -inf->-inf", error=2,
       definition="(e^x - e^-x) / 2", source=_OPENCL),
    Op("sqrt", extended(np.sqrt), _BOTH, _within(0.5, 4, why=CORRECT), _POSITIVE,
       "nan->nan inf->inf -inf->nan 0->0 -0->-0 1->1 4->2 -1->nan", error=_PARTS,
       definition="square root", source="IEEE 754"),
    Op("square", extended(np.square), NUMBERS, _within(0.5, 4, why=CORRECT), _REAL,
       "nan->nan inf->inf -inf->inf 0->0 -0->0 2->4 -2->4", error=_PARTS,
       definition="x^2", source="IEEE 754",
       note="integers wrap"),
    Op("tan", extended(np.tan, formulas.tan), _BOTH, _within(5), _ANGLE,
       _ODD + "inf->nan -inf->nan", error=2,
       definition="tangent, of every finite x", source=_OPENCL),
    Op("trunc", np.trunc, FLOATS, _WHOLE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 0.5->0 -0.5->-0 -1.5->-1 1->1",
       definition="the integer part", source="IEEE 754"),
)
# fmt: on
