"""Numbers of a launch, as kernels read them: in the type that a family computes in, each in 16 bytes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Numbers = Callable[[tuple[Any, ...]], bytes]

__all__ = ["NO_NUMBERS", "number_bytes", "numbers_of"]

NO_NUMBERS: Final = bytes(32)
"""All that a launch has room for: two."""

_FORMATS: Final[Mapping[str, str]] = {
    "bool": "?15x",
    "int8": "b15x",
    "int16": "h14x",
    "int32": "i12x",
    "int64": "q8x",
    "uint8": "B15x",
    "uint16": "H14x",
    "uint32": "I12x",
    "uint64": "Q8x",
    "float32": "f12x",
    "float64": "d8x",
    "complex64": "ff8x",
    "complex128": "dd",
}


def number_bytes(dtype: str, value: Any) -> bytes:
    """Return a number as a kernel that computes in `dtype` reads it."""
    parts = (value.real, value.imag) if ep.dtype(dtype).kind == "c" else (value,)
    return struct.pack(f"={_FORMATS[dtype]}", *parts)


def numbers_of(dtype: str, count: int) -> Numbers:
    """Return the function that packs the one or two numbers of a launch, held in `dtype`."""
    pack = struct.Struct(f"={_FORMATS[dtype] * count}{16 * (2 - count)}x").pack
    if ep.dtype(dtype).kind != "c":
        return lambda scalars: pack(*scalars)

    def one(scalars: tuple[Any, ...]) -> bytes:
        (a,) = scalars
        return pack(a.real, a.imag)

    def two(scalars: tuple[Any, ...]) -> bytes:
        a, b = scalars
        return pack(a.real, a.imag, b.real, b.imag)

    return one if count == 1 else two
