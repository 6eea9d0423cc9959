"""Arguments that are integers of few bits, 64 unless an operation says more, or several: whatever has `__index__` and is no truth value, else refused by name."""

from __future__ import annotations

import operator
from itertools import islice
from typing import Any, Final

from ep.ground.glimpse import glimpse

__all__ = ["count", "index", "integer", "taken"]

_BITS: Final = 64


def index(value: Any, bits: int = _BITS) -> int:
    """Return an integer of so many bits at most. Raises TypeError for what is none, ValueError for a longer one, without words."""
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
    bits     : that it may have at most

    Raises TypeError for what is none, ValueError for a longer one; True and False are none, because they are likelier meant
    for a flag.
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
    """Return the elements of an iterable, `most` and one more of them at most: it may have no end. Raises TypeError for none."""
    try:
        return tuple(islice(iter(values), most + 1))
    except Exception as error:  # an iterator may raise anything
        raise TypeError from error
