"""Arguments that are integers of at most 64 bits, or several: whatever has `__index__` and is no truth value, else refused by name."""

from __future__ import annotations

import operator
from itertools import islice
from typing import Any, Final

from ep.glimpse import glimpse

__all__ = ["count", "index", "integer", "taken"]

_END: Final = 2**64


def index(value: Any) -> int:
    """Return an integer of at most 64 bits. Raises TypeError for what is none, ValueError for a longer one, without words."""
    try:
        number = operator.index(value)
    except Exception as error:  # `__index__` may raise anything
        raise TypeError from error
    if not -_END < number < _END:
        raise ValueError
    return number


def integer(argument: str, value: Any) -> int:
    """Return an integer argument.

    argument : "operation: argument", for the message

    Raises TypeError for what is none, ValueError for one of more than 64 bits; True and False are none, because they are
    likelier meant for a flag.
    """
    if type(value) is int and -_END < value < _END:
        return value
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    except ValueError:
        message = f"{argument} is {glimpse(value)}, needs an integer of at most 64 bits; give a smaller one"
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
