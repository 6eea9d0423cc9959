"""Bits: elements as unsigned integers of their length, for families that move them: all types of a length share programs."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_simt.plan import Made
from ep_simt.program import Parameter
from ep_simt.program import struct as structure

if TYPE_CHECKING:
    from ep.dtypes import DType

__all__ = ["NO_NUMBER", "bits_words", "given", "number_bits", "pattern", "unsigned"]

_GIVEN_NBYTES: Final = 16

NO_NUMBER: Final = bytes(_GIVEN_NBYTES)
"""The argument for the bits of a number that a launch does not have."""


def unsigned(dtype: str) -> str:
    """Return the unsigned integer of an element type's length, as called in C after `ep_`."""
    return f"u{8 * ep.dtype(dtype).itemsize}"


def bits_words(element: str) -> dict[str, object]:
    """Return the words of programs over elements that are one of `unsigned`: their type, and the bits of a given number."""
    number = "(number)" if element == "u128" else f"((ep_{element})(number).low)"
    return {"EP_HAS_F64": 0, "EP_C": f"ep_{element}", "EP_BITS_GIVEN(number)": number}


def given(name: str) -> Parameter:
    """Return the parameter that takes the bits of a number."""
    return structure(name, "ep_u128", _GIVEN_NBYTES)


def number_bits(dtype: str, place: int) -> Made:
    """Return the argument for it: the bits of a launch's number, rounded once to an element type.

    place : of the number among those of the launch
    """
    return Made(lambda scalars: (pattern(dtype, scalars[place]).to_bytes(_GIVEN_NBYTES, "little"),), 1)


def pattern(dtype: str, value: Any) -> int:
    """Return the bits of a number as an element, rounded to nearest even from the compute type that holds it."""
    row = ep.dtype(dtype)
    if row.kind == "c":
        part = "float64" if row.compute == "complex128" else "float32"
        return pattern(part, value.real) | pattern(part, value.imag) << 4 * row.itemsize
    if row.kind == "f":
        return _floating(row, value)
    return int(value) & (1 << 8 * row.itemsize) - 1


def _floating(row: DType, value: float) -> int:
    if row.name == "float64":
        return int.from_bytes(struct.pack("<d", value), "little")
    exponent, fraction = row.exponent, row.fraction
    sign = int(math.copysign(1, value) < 0) << exponent + fraction
    largest, infinity = (1 << exponent + fraction) - 1, ((1 << exponent) - 1) << fraction
    if math.isnan(value):
        return sign | largest
    beyond = largest if row.name == "float8_e4m3fn" else infinity  # which has no infinity
    if math.isinf(value):
        return sign | beyond
    least = 2 - (1 << exponent - 1)
    power = max(math.frexp(value)[1] - 1, least) if value else least
    return sign | min(round(math.ldexp(abs(value), fraction - power)) + (power - least << fraction), beyond)
