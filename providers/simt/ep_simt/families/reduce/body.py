"""Reduce: which text joins the elements of an op, in which types, and what is made of the state of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Reduce

from ep_simt.elements import ELEMENTS, kind_of, part_of
from ep_simt.reductions.body import Fold, Reduction

if TYPE_CHECKING:
    from ep.work.key import KernelKey

__all__ = ["BODY"]

_FOLDER: Final = "families/reduce"
_ORDER: Final = "reductions/order.h"

_TERMS: Final = {
    "sum": "((EP_S)(x))",
    "mean": "((EP_S)(x))",
    "sum_of_squares": "((x) * (x))",
    "norm_1": "(EP_OF_BITS(EP_BITS_OF(x) & ~(EP_UNSIGNED)0 >> 1))",
}
_COMPLEX_TERMS: Final = {
    "sum_of_squares": "((x).re * (x).re + (x).im * (x).im)",
    "norm_1": "(EP_OF(modulus_of)((x).re, (x).im))",
}
_ROOTED: Final = ("norm_1", "norm_2", "norm_inf")
"""Of complex numbers by roots, of others the Euclidean norm."""

_BLUE: Final = {"f32": (-59, 90, 47, 80, -60), "f64": (-480, 600, 480, 600, -800)}
"""Exponents of norm.h: below the first an element is small, and scaled up by the second; above the third it is large, and
scaled down by the fourth; small squares are negligible beside usual ones from the last on."""


class _Reduce(Reduction):
    descriptor = Reduce

    def rounds(self, key: KernelKey) -> bool:
        is_root = key.op == "norm_2" or (key.op in _ROOTED and key.dtypes[0] == "complex64")
        return is_root and key.compute == "float32"

    def factor(self, descriptor: Any) -> float:
        if descriptor.op != "mean":
            return 1.0
        return 1.0 / descriptor.terms if descriptor.terms else float("nan")

    def fold(self, key: KernelKey) -> Fold:
        op, (x, out) = key.op, (ELEMENTS[dtype] for dtype in key.dtypes)
        compute = ELEMENTS[key.compute]
        part, kind = part_of(compute), kind_of(x)
        if op in {"any", "all"} or (kind == "BOOLEAN" and op in {"max", "min"}):
            state = "u8" if x in {"bool", "i8", "u8"} else "u32"
            return _fold("test", (state,), EP_ALL=int(op in {"all", "min"}))
        if op in {"max", "min"}:
            state = x if kind == "INTEGER" else f"i{part[1:]}"
            return _fold("extreme", (state,), _ORDER, EP_SEEKS_LEAST=int(op == "min"))
        if op == "prod":
            return _fold("product", (part, part) if kind == "COMPLEX" else (_summed(part),))
        if op == "norm_2":
            return _fold("norm", (part,) * 3, **_blue(part))
        if op == "norm_inf":
            size = "(EP_OF(modulus_of)((x).re, (x).im))" if kind == "COMPLEX" else "(x)"
            return _fold("largest_size", (f"u{part[1:]}",), **{"EP_SIZE(x)": size})
        if op == "log_sum_exp":
            return _fold("log_sum_exp", (part, part), EP_JOINS_FOUR=1)
        if kind_of(out) == "COMPLEX":
            return _fold("total", (part, part))
        terms = _COMPLEX_TERMS if kind == "COMPLEX" else _TERMS
        result = "((EP_R)(sum))" if kind_of(out) == "INTEGER" else "((sum) * (factor))"
        return _fold("total", (_summed(part),), **{"EP_TERM(x)": terms[op], "EP_RESULT(sum, factor)": result})


BODY: Final[Reduction] = _Reduce()


def _fold(name: str, parts: tuple[str, ...], *before: str, **words: object) -> Fold:
    marks = "-".join(str(value) for value in words.values() if isinstance(value, int))
    return Fold(f"reduce-{name}-{marks}", (*before, f"{_FOLDER}/{name}.h"), parts, tuple(words.items()))


def _summed(part: str) -> str:
    """Return the type that sums and products of a type are made in: of integers unsigned, which wraps."""
    return part if part[0] == "f" else f"u{max(32, int(part[1:]))}"


def _blue(part: str) -> dict[str, object]:
    small, small_up, large, large_down, negligible = _BLUE[part]
    exponents = {
        "EP_SMALL": small,
        "EP_SMALL_UP": small_up,
        "EP_SMALL_DOWN": -small_up,
        "EP_LARGE": large,
        "EP_LARGE_UP": large_down,
        "EP_LARGE_DOWN": -large_down,
        "EP_NEGLIGIBLE": negligible,
    }
    return {word: f"{2.0**exponent!r}{'f' if part == 'f32' else ''}" for word, exponent in exponents.items()}
