"""Element types: the types that the dialect computes with, and their names in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ELEMENTS", "complex_of", "has_doubles", "kind_of", "kinds_of", "nbytes_of", "part_of", "unknown"]

ELEMENTS: Final = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
}
"""The element types that the dialect computes with, and how they are called in C after `ep_`."""

_KINDS: Final = {"b": "BOOLEAN", "i": "INTEGER", "u": "INTEGER", "f": "FLOATING", "c": "COMPLEX"}
_KIND_OF: Final = {name: _KINDS[ep.dtype(dtype).kind] for dtype, name in ELEMENTS.items()} | {"u128": "INTEGER"}
_NBYTES: Final = {name: ep.dtype(dtype).itemsize for dtype, name in ELEMENTS.items()} | {"u128": 16}
_NARROW: Final = {"f16": "HALF", "bf16": "BFLOAT"}
_DOUBLES: Final = {"f64", "c128"}
_PARTS: Final = {"c64": "f32", "c128": "f64"}


def unknown(dtypes: Iterable[str]) -> str:
    """Return why nothing computes with some of these types, "" if the dialect has them all."""
    lacking = sorted({dtype for dtype in dtypes if dtype and dtype not in ELEMENTS})
    return f"the dialect has no {', '.join(lacking)}; it has {', '.join(ELEMENTS)}" if lacking else ""


def nbytes_of(element: str) -> int:
    """Return the bytes of an element by its name in C."""
    return _NBYTES[element]


def kind_of(element: str) -> str:
    """Return BOOLEAN, INTEGER, FLOATING or COMPLEX for a name in C."""
    return _KIND_OF[element]


def kinds_of(element: str) -> tuple[str, ...]:
    """Return the kinds of a name in C for which rows are written, the narrower one first.

    NARROW or WIDE goes before FLOATING: floats of 16 bits, and all others; HALF or BFLOAT before NARROW. PARTS goes before COMPLEX: rows that take a complex number
    by its parts, in its own type, where COMPLEX is computed in double.
    """
    kind = _KIND_OF[element]
    if kind == "FLOATING":
        return (_NARROW[element], "NARROW", kind) if element in _NARROW else ("WIDE", kind)
    return ("PARTS", kind) if kind == "COMPLEX" else (kind,)


def has_doubles(elements: Iterable[str]) -> bool:
    """Return True if some of these names in C have parts of 64 bits that a device computes with."""
    return not _DOUBLES.isdisjoint(elements)


def part_of(element: str) -> str:
    """Return the type of the parts of a complex number, as called in C after `ep_`; of any other, itself."""
    return _PARTS.get(element, element)


def complex_of(part: str) -> str:
    """Return the complex type of parts of this type, as called in C after `ep_`."""
    return next(element for element, own in _PARTS.items() if own == part)
