"""Arguments that are integers: whatever has `__index__`, refused by name where it has none or is below 0."""

from __future__ import annotations

import operator
import reprlib
from typing import Any

__all__ = ["count", "integer"]


def integer(argument: str, value: Any) -> int:
    """Return an integer argument.

    argument : "operation: argument", for the message

    Raises TypeError for what is none.
    """
    try:
        return operator.index(value)
    except TypeError:
        message = f"{argument} is {reprlib.repr(value)}, needs an integer; give an int"
        raise TypeError(message) from None


def count(argument: str, value: Any) -> int:
    """Return an integer argument that is at least 0. Raises TypeError for what is no integer, ValueError below 0."""
    number = integer(argument, value)
    if number < 0:
        message = f"{argument} {number} is below 0; give 0 or more"
        raise ValueError(message)
    return number
