"""The rows of Reduce: how an element of the output is computed from its row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import ep
from ep_primitives.elementwise.op import ALL, COMPLEXES, FLOATS, INTEGERS, REALS
from ep_primitives.judging.accuracy import EXACT, INTEGRAL, Accuracy, Conditioned, Exact, Ulps

__all__ = ["REDUCE_OPS", "ReduceOp", "summation"]

_WIDER: Final = {"float16": "float32", "bfloat16": "float32"} | {
    name: "uint64" if name.startswith("u") else "int64" for name in INTEGERS if not name.endswith("64")
}
_PARTS: Final = {"complex64": "float32", "complex128": "float64"}

Outs = Mapping[str, tuple[str, ...]]
_SAME_OR_WIDER: Final[dict[str, tuple[str, ...]]] = {
    name: (name, _WIDER[name]) if name in _WIDER else (name,) for name in (*REALS, *COMPLEXES)
}
_SAME: Final[Outs] = {name: (name,) for name in ("bool", *REALS)}
_PART: Final[Outs] = {name: (_PARTS.get(name, name),) for name in (*FLOATS, *COMPLEXES)}

_CHAIN: Final = 64
"""Terms that a sum may add one by one."""
_COMPLEX_PRODUCT: Final = math.sqrt(5)


def summation(n: int) -> float:
    """Return k of a sum of n terms: h / 2, h the height of a tree that adds 64 terms one by one and such sums in pairs.

    A term meets at most h roundings, so that |error| <= h u S = h / 2 eps S to first order: n - 1 for up to 64 terms, which
    may be added in any order, then 63 + log2(n / 64) (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section
    4.2). A float32 that takes in thousands of terms one by one is off by hundreds of eps S where roundings lean to one side.
    """
    return (n - 1 if n <= _CHAIN else _CHAIN - 1 + math.log2(n / _CHAIN)) / 2 if n > 1 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ReduceOp:
    """One reduction.

    name       : as in descriptors and cells
    outs       : for each element type of x those that out may have; of integers the last is usual, as in NumPy, else the first
    identity   : the result of an empty row; -inf and inf stand for the lowest and highest value of a type without them
    bound      : from the number n of terms and whether they are complex to the accuracy of a floating output
    definition : the formula over the x_i of a row
    source     : where the definition and the bound come from
    accuracy   : the bound in words; other outputs than floating ones are exact
    note       : a further remark
    newer      : the suite version that first held a pair of element types, of those younger than the row
    """

    name: str
    outs: Outs
    identity: float
    bound: Callable[[int, bool], Accuracy]
    definition: str
    source: str
    accuracy: str
    note: str = ""
    since: str = "1.0"
    newer: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def usual_out(self, dtype: str) -> str:
        """Return the element type of out where none is asked for: sums and products of integers do not wrap at 8 to 32 bits."""
        return self.outs[dtype][-1 if ep.dtype(dtype).kind in "iu" else 0]

    def accuracy_of(self, dtype: str, out: str, n: int) -> Accuracy:
        """Return the accuracy of a result of type `out` from n elements of type `dtype`."""
        if ep.dtype(out).kind not in "fc":
            return INTEGRAL
        bound = self.bound(n, ep.dtype(dtype).kind == "c")
        return replace(bound, why=self.source if isinstance(bound, Exact) else f"{self.accuracy}: {self.source}")

    def identity_of(self, out: str) -> bool | int | float:
        """Return the result of an empty row, as a number that the type `out` holds."""
        kind = ep.dtype(out).kind
        if kind == "b":
            return self.identity > 0
        if kind in "fc":
            return self.identity
        if math.isinf(self.identity):
            return ep.dtype(out).range[self.identity > 0]
        return int(self.identity)


def _exact(_n: int, _is_complex: bool, /) -> Accuracy:  # noqa: FBT001 - the interface is ReduceOp.bound's
    return EXACT


def _conditioned(k: Callable[[int, bool], float]) -> Callable[[int, bool], Accuracy]:
    return lambda n, is_complex: Conditioned(round(k(n, is_complex), 2))


def _squares(n: int, is_complex: bool) -> float:  # noqa: FBT001 - as above
    return summation(2 * n if is_complex else n) + 0.5


_HIGHAM: Final = "Higham, Accuracy and Stability of Numerical Algorithms, 2002"
_SUM: Final = "k(n) = (n - 1) / 2 up to n = 64, then 31.5 + log2(n / 64) / 2:"

_ROWS: Final = (
    ReduceOp(
        "sum",
        _SAME_OR_WIDER | {"bool": ("int64",), "float32": ("float32", "float64")},
        0.0,
        _conditioned(lambda n, _: summation(n)),
        definition="x_1 + x_2 + ...; integers modulo 2^bits of the output; of bools the number of true ones",
        source=f"{_HIGHAM}, section 4.2",
        accuracy=f"{_SUM} k(n) eps S, S = |x_1| + |x_2| + ...",
        note="sums of infinities are IEEE 754's: inf - inf is NaN; where a partial sum overflows, the result is open; without a dtype "
        "infer widens integers to 64 bits, as NumPy does, and those that are to wrap are asked for by their own dtype",
        newer={("float32", "float64"): "1.1"},
    ),
    ReduceOp(
        "prod",
        _SAME_OR_WIDER,
        1.0,
        _conditioned(lambda n, is_complex: max(n - 1, 0) / 2 * (_COMPLEX_PRODUCT if is_complex else 1)),
        definition="x_1 x_2 ...; integers modulo 2^bits of the output",
        source=f"n - 1 roundings in any order: {_HIGHAM}, section 3.1; a complex product is off by at most sqrt(5) eps / 2: "
        "Brent, Percival, Zimmermann, Mathematics of Computation 76, 2007",
        accuracy="(n - 1) / 2 eps S, S = |x_1 x_2 ...|, of complex numbers sqrt(5) times that",
        note="a zero has the sign of the product, that of a zero part of a complex product is open; where a partial product overflows or is subnormal, the result is open",
    ),
    ReduceOp(
        "mean",
        {name: (name,) for name in (*FLOATS, *COMPLEXES)},
        math.nan,
        _conditioned(lambda n, _: summation(n) + 1),
        definition="(x_1 + x_2 + ...) / n",
        source=f"{_HIGHAM}, section 4.2, and two roundings for the quotient or the product with 1 / n",
        accuracy="(k(n) + 1) eps S, k as of sum, S = (|x_1| + |x_2| + ...) / n",
        note="where the sum overflows in the compute type, the result is open; float16 does not overflow in float32",
    ),
    ReduceOp(
        "max",
        _SAME,
        -math.inf,
        _exact,
        definition="the largest x_i",
        source="IEEE 754-2019, maximum: NaN wins over all, -0 < +0",
        accuracy="exact",
        note="the payload and sign of a NaN are open",
    ),
    ReduceOp(
        "min",
        _SAME,
        math.inf,
        _exact,
        definition="the smallest x_i",
        source="IEEE 754-2019, minimum: NaN wins over all, -0 < +0",
        accuracy="exact",
        note="the payload and sign of a NaN are open",
    ),
    ReduceOp(
        "any",
        dict.fromkeys(ALL, ("bool",)),
        0.0,
        _exact,
        definition="x_1 != 0 or x_2 != 0 or ...",
        source="logic",
        accuracy="exact",
        note="NaN is not 0 and so true, -0 is false; of a complex number one part is enough",
    ),
    ReduceOp(
        "all",
        dict.fromkeys(ALL, ("bool",)),
        1.0,
        _exact,
        definition="x_1 != 0 and x_2 != 0 and ...",
        source="logic",
        accuracy="exact",
        note="NaN is not 0 and so true, -0 is false; of a complex number one part is enough",
    ),
    ReduceOp(
        "sum_of_squares",
        _PART,
        0.0,
        _conditioned(_squares),
        definition="|x_1|^2 + |x_2|^2 + ..., of complex numbers re^2 + im^2",
        source=f"{_HIGHAM}, section 4.2, and a rounding for the square; a complex number has two terms",
        accuracy="(k(n) + 1/2) eps S, of complex numbers (k(2n) + 1/2) eps S, k as of sum, S = the value",
        note="a square beyond the compute type is infinite; where a square is subnormal, the result is open",
    ),
    ReduceOp(
        "norm_1",
        _PART,
        0.0,
        _conditioned(lambda n, is_complex: summation(n) + (2 if is_complex else 0)),
        definition="|x_1| + |x_2| + ...",
        source=f"{_HIGHAM}, section 4.2; the modulus of a complex number is off by at most 2 ulp",
        accuracy="k(n) eps S, of complex numbers (k(n) + 2) eps S, k as of sum, S = the value",
    ),
    ReduceOp(
        "norm_2",
        _PART,
        0.0,
        _conditioned(lambda n, is_complex: _squares(n, is_complex) / 2 + 1),
        definition="sqrt(|x_1|^2 + |x_2|^2 + ...)",
        source=f"the root halves the error of the sum: {_HIGHAM}, section 3.1; range: Blue, ACM TOMS 4, 1978",
        accuracy="(k / 2 + 1) eps S, k as of sum_of_squares, S = the value",
        note="right wherever the result is a normal number, also where squares overflow or vanish; float16 is squared in float32",
    ),
    ReduceOp(
        "norm_inf",
        _PART,
        0.0,
        lambda _, is_complex: Ulps(2) if is_complex else EXACT,
        definition="the largest |x_i|",
        source="IEEE 754-2019, maximum; the modulus of a complex number as in elementwise_unary/abs",
        accuracy="exact, of complex numbers 2 ulp",
        note="NaN wins over infinity; a zero is +0",
    ),
    ReduceOp(
        "log_sum_exp",
        {name: (name,) for name in FLOATS},
        -math.inf,
        _conditioned(lambda n, _: summation(n) + 4 if n > 1 else 0.0),
        definition="m + log(exp(x_1 - m) + exp(x_2 - m) + ...), m = the largest x_i",
        source="Blanchard, Higham, Higham, Accurately computing the log-sum-exp and softmax functions, IMA Journal of Numerical "
        "Analysis 41, 2021, with 2 ulp for exp and log",
        accuracy="(k(n) + 4) eps S, k as of sum, S = 1 + (|m| + 2 log(sum)) / (k(n) + 4)",
        note="m = inf gives inf, m = -inf gives -inf, a NaN gives NaN; nothing overflows where the result does not",
    ),
)

REDUCE_OPS: Final[Mapping[str, ReduceOp]] = {row.name: row for row in _ROWS}
"""The reductions by name."""
