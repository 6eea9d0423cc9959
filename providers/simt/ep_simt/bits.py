"""Bits: elements as unsigned integers of their length, for families that move them: all types of a length share programs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from ep.exchange.arrays import array_dtype

import ep
from ep_simt.plan import Made
from ep_simt.program import Parameter
from ep_simt.program import struct as structure

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
    return Made(lambda scalars: (pattern(dtype, scalars[place]),), 1)


def pattern(dtype: str, value: Any) -> bytes:
    """Return the bits of a number as an element, rounded to nearest even from the compute type that holds it, as `given` takes them."""
    with np.errstate(over="ignore"):
        return np.array(value).astype(array_dtype(dtype)).tobytes().ljust(_GIVEN_NBYTES, b"\0")
