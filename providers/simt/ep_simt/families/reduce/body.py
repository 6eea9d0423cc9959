"""Reduction: which text joins the elements of an op, in which types, and what is made of the state of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Reduce

import ep
from ep_simt.bits import unsigned
from ep_simt.elements import ELEMENTS, kind_of, part_of
from ep_simt.reductions.body import Fold, Lens, Reduction, bits_of_infinity, every_bit

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FOLDER: Final = "families/reduce"

_EXTREMES: Final = ("max", "min")
_TESTS: Final = {"any": 0, "all": 1, "max": 0, "min": 1}
"""Of each op 1 if it asks for all; the extremes of bools are tests."""

_TERMS: Final = {
    "sum": "((EP_S)(x))",
    "mean": "((EP_S)(x))",
    "sum_of_squares": "((EP_S)(x) * (EP_S)(x))",
    "norm_1": "(EP_OF_BITS(EP_BITS_OF(x) & ~(EP_UNSIGNED)0 >> 1))",
}
_COMPLEX_TERMS: Final = {
    "sum_of_squares": "((EP_S)(x).re * (EP_S)(x).re + (EP_S)(x).im * (EP_S)(x).im)",
    "norm_1": "(EP_OF(modulus_of)((x).re, (x).im))",
}
_ROOTED: Final = ("norm_1", "norm_2", "norm_inf")
"""Of complex numbers by roots, of others the Euclidean norm."""

_COMPLEX_BITS: Final = {"complex64": 0x7FFFFFFF7FFFFFFF, "complex128": 0x7FFFFFFFFFFFFFFF}
"""All but the signs of zeros: of both parts in one word, and of one in each of two words."""

_BLUE: Final = {"f32": (-59, 90, 47, 80, -60), "f64": (-480, 600, 480, 600, -800)}
"""Exponents of norm.h: below the first an element is small, and scaled up by the second; above the third it is large, and
scaled down by the fourth; small squares are negligible beside usual ones from the last on."""


class _Reduce(Reduction):
    descriptor = Reduce

    def rounds(self, key: KernelKey) -> bool:
        is_root = key.op == "norm_2" or (key.op in _ROOTED and key.dtypes[0] == "complex64")
        return is_root and key.compute == "float32"

    def rounds_in_double(self, key: KernelKey) -> bool:
        return key.op == "norm_2"

    def lens(self, descriptor: Reduce) -> Lens:
        op, dtype, terms = descriptor.op, descriptor.x.dtype, descriptor.terms
        kind, every = ep.dtype(dtype).kind, every_bit(dtype)
        sign = (every >> 1) + 1
        if op == "mean":
            return Lens(factor=1.0 / terms if terms else float("nan"))
        if op in {"any", "all"} or (kind == "b" and op in _EXTREMES):
            return Lens(every ^ sign if kind == "f" else _COMPLEX_BITS.get(dtype, every), _TESTS[op])
        if op in _EXTREMES:
            flip = every if op == "min" else 0
            return Lens(bits_of_infinity(dtype) if kind == "f" else every, flip ^ (sign if kind == "i" else 0))
        return Lens(keep=every ^ sign) if op == "norm_inf" and kind == "f" else Lens()

    def fold(self, key: KernelKey, target: Target | None = None) -> Fold:
        op, (x, out) = key.op, (ELEMENTS[dtype] for dtype in key.dtypes)
        part, kind, bits = part_of(ELEMENTS[key.compute]), kind_of(x), unsigned(key.dtypes[0])
        if op in {"any", "all"} or (kind == "BOOLEAN" and op in _EXTREMES):
            return _fold("test", bits, "u8", ("u8" if bits == "u128" else bits,))
        if op in _EXTREMES or (op == "norm_inf" and kind == "FLOATING"):
            is_float = kind == "FLOATING" and op in _EXTREMES
            return _fold("extreme", bits, bits, (bits,), "reductions/order.h", EP_FLOATING=int(is_float))
        if kind in {"INTEGER", "BOOLEAN"}:
            made = unsigned(key.dtypes[1])
            given, state = bits if bits == made else x, "u64" if made == "u64" else "u32"
            words = {} if op == "prod" else {"EP_TERM(x)": _TERMS[op], "EP_RESULT(sum, factor)": "((EP_R)(sum))"}
            return _fold("product" if op == "prod" else "total", given, made, (state,), **words)
        if op == "prod":
            return _fold("product", x, out, (part,) * (1 + (kind == "COMPLEX")))
        if op == "norm_2":
            if _is_fast_in_double(part, target):
                return _norm(x, out, kind)
            by_double = part == "f32" and target is not None and not target.rounded
            rounded = f"ep_{'f64' if by_double else part}"
            norm = _fold("norm", x, out, (part,) * 3, EP_ROUNDED=rounded, **_blue(part))
            return norm._replace(rounds_in_double=by_double)
        if op == "norm_inf":
            return _fold("largest_modulus", x, out, (f"u{part[1:]}",))
        if op == "log_sum_exp":
            return _fold("log_sum_exp", x, out, (part, part), EP_JOINS_FOUR=1)
        if kind_of(out) == "COMPLEX":
            return _fold("total", x, out, (part, part))
        term = (_COMPLEX_TERMS if kind == "COMPLEX" else _TERMS)[op]
        return _fold("total", x, out, (part,), **{"EP_TERM(x)": term, "EP_RESULT(sum, factor)": "((sum) * (factor))"})


BODY: Final[Reduction] = _Reduce()


def _fold(name: str, read: str, store: str, parts: tuple[str, ...], *before: str, **words: object) -> Fold:
    marks = "".join(f"-{value}" for value in words.values() if isinstance(value, int))
    return Fold(f"reduce-{name}{marks}", (*before, f"{_FOLDER}/{name}.h"), read, store, parts, tuple(words.items()))


def _is_fast_in_double(part: str, target: Target | None) -> bool:
    """Return True for a processor, which has vectors of float64: no square of a float32 leaves its range."""
    return part == "f32" and target is not None and target.group == 1 and target.doubles


def _norm(x: str, out: str, kind: str) -> Fold:
    """Return the root of a sum of squares in double."""
    term = (_COMPLEX_TERMS if kind == "COMPLEX" else _TERMS)["sum_of_squares"]
    words = {"EP_TERM(x)": term, "EP_RESULT(sum, factor)": "((EP_R)ep_sqrt(sum))"}
    return _fold("total", x, out, ("f64",), **words)


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
