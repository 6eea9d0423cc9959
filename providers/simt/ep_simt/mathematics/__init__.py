"""The mathematics: one text a subject, which every provider includes for each of its types; the CPU's C++ reads the same files.

A text asks for `EP_T`, `EP_OF(name)` and the constants of `begin_f32.h` or `begin_f64.h`, and for words of the language: in C
and its kin those of `dialect/dialect.h`, in C++ those of `math/vector_math.h`.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from ep_simt.dialect import text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["computes_in_double", "is_arithmetic", "mathematics", "needs_doubles"]

_FOLDER: Final = "mathematics"

_ORDER: Final = (
    "basics",
    "double_word",
    "exponential",
    "logarithm",
    "logistic",
    "hyperbolic",
    "error_function",
    "signed_power",
    "power",
    "power_backward",
    "activation",
    "activation_backward",
    "slope",
    "quarter_turns",
    "angle",
    "circular",
    "arc",
    "modulus",
    "hypotenuse",
    "log_add",
    "remainder",
    "neighbour",
    "closeness",
    "gamma",
    "zeta",
    "brief",
    "power_brief",
    "normal_quantile",
    "complex",
    "complex_root",
    "complex_exponential",
    "complex_circular",
    "complex_logarithm",
    "complex_inverse",
    "complex_power",
    "complex_backward",
)
"""The texts; each calls what stands in it or in those before it."""

_DEFINED: Final = re.compile(
    r"^(?:EP_FN .*?\bEP_OF\((\w+)\)\(|EP_STRUCT\((\w+)\)|EP_CONSTANT_TABLE\(\w+, EP_OF\((\w+)\))", re.MULTILINE
)
_USED: Final = re.compile(r"EP_(?:OF|STRUCT_OF)\((\w+)\)")
_OF_DOUBLE: Final = re.compile(r"EP_NAMED\((\w+), f64\)")


def mathematics(source: str, compute: str, *, doubles: bool = True) -> tuple[str, ...]:
    """Return the files that define what a text calls, in their order; after them `EP_OF` names what is of its type.

    source   : a text that calls functions of the mathematics by `EP_OF`
    compute  : the type that it is in, f32 or f64
    doubles  : whether functions of f32 may call those of f64
    """
    own = _texts(frozenset(_USED.findall(source)))
    wide = _doubles(own) if compute == "f32" and doubles else ()
    begin = f"{_FOLDER}/begin_{compute}.h"
    return (*_bracketed(wide, "f64"), *_bracketed(own, compute), begin)


def computes_in_double(source: str) -> bool:
    """Return True if a text of another type calls functions of f64."""
    return _calls_doubles(source, _texts(frozenset(_USED.findall(source))))


def needs_doubles(source: str) -> bool:
    """Return True if it calls one that has no form for devices without double, as texts have that ask for `EP_HAS_F64`."""
    own = _texts(frozenset(_USED.findall(source)))
    return _calls_doubles(source, tuple(name for name in own if "EP_HAS_F64" not in text(f"{_FOLDER}/{name}.inc")))


def _calls_doubles(source: str, own: tuple[str, ...]) -> bool:
    return bool(_OF_DOUBLE.search(source) or _doubles(own))


def is_arithmetic(source: str) -> bool:
    """Return True if a text calls no function that is more than a few instructions."""
    return set(_texts(frozenset(_USED.findall(source)))) <= {"basics"}


def _bracketed(names: tuple[str, ...], element: str) -> tuple[str, ...]:
    files = [f"{_FOLDER}/{name}.inc" for name in names]
    return (f"{_FOLDER}/begin_{element}.h", *files, f"{_FOLDER}/end.h") if files else ()


def _doubles(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of f64 that texts of f32 call."""
    called = {name for each in names for name in _OF_DOUBLE.findall(text(f"{_FOLDER}/{each}.inc"))}
    return _texts(frozenset(called))


@functools.cache
def _texts(called: frozenset[str]) -> tuple[str, ...]:
    """Return the texts that define functions and structures, and those that these need."""
    found: set[str] = set()
    open_ = {_home()[name] for name in called if name in _home()}
    while open_:
        name = open_.pop()
        found.add(name)
        used = {_home()[each] for each in _USED.findall(text(f"{_FOLDER}/{name}.inc")) if each in _home()}
        open_ |= used - found
    return tuple(name for name in _ORDER if name in found)


@functools.cache
def _home() -> Mapping[str, str]:
    """Return the text that defines each name."""
    return {
        function or structure or table: name
        for name in _ORDER
        for function, structure, table in _DEFINED.findall(text(f"{_FOLDER}/{name}.inc"))
    }
