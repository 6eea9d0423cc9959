"""Arguments that are integers of at most 64 bits, or as many as an operation allows; also sequences of them.

Any object with `__index__` is an integer, but for truth values. Errors name the argument.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, Final

from ep.ground.glimpse import glimpse

__all__ = ["count", "index", "integer", "several", "taken"]

_BITS: Final = 64


def index(value: Any, bits: int = _BITS) -> int:
    """Return an integer of at most so many bits. Raises TypeError, or ValueError if it is longer, with no message."""
    try:
        number = operator.index(value)
    except Exception as error:  # `__index__` may raise anything
        raise TypeError from error
    if number.bit_length() > bits:
        raise ValueError
    return number


def integer(argument: str, value: Any, bits: int = _BITS) -> int:
    """Return an integer argument.

    argument : "operation: argument", for the message
    bits     : the most that the integer may have

    Raises TypeError for another object, ValueError for a longer integer. True and False raise TypeError, because they
    are probably meant for a flag.
    """
    if type(value) is int and value.bit_length() <= bits:
        return value
    try:
        if not isinstance(value, bool):
            return index(value, bits)
    except TypeError:
        pass
    except ValueError:
        message = f"{argument} is {glimpse(value)}, needs an integer of at most {bits} bits; give a smaller one"
        raise ValueError(message) from None
    message = f"{argument} is {glimpse(value)}, needs an integer; give an int"
    raise TypeError(message)


def count(argument: str, value: Any) -> int:
    """Return an integer argument that is at least 0. Raises as `integer` does, and ValueError below 0."""
    number = integer(argument, value)
    if number < 0:
        message = f"{argument} {number} is below 0; give 0 or more"
        raise ValueError(message)
    return number


def taken(values: Any, most: int) -> tuple[Any, ...]:
    """Return at most the first `most + 1` elements of an iterable, which may be endless. Raises TypeError."""
    try:
        return tuple(islice(iter(values), most + 1))
    except Exception as error:  # an iterator may raise anything
        raise TypeError from error


def several(operation: str, values: Any, most: int, kind: str) -> tuple[Any, ...]:
    """Return at most the first `most + 1` elements of a sequence, which may be endless.

    kind : of the elements, for the message

    Raises TypeError for another object, and for sets, mappings and text, whose order or elements say nothing.
    """
    try:
        if not isinstance(values, AbstractSet | Mapping | str | bytes):
            return taken(values, most)
    except TypeError:
        pass
    message = f"{operation}: {glimpse(values)} is no sequence of {kind}; give a tuple of them"
    raise TypeError(message) from None
