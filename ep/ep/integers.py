"""Arguments that are integers: whatever has `__index__` and is no truth value, refused by name else or where it is below 0."""

from __future__ import annotations

import operator
import reprlib
from contextlib import suppress
from typing import Any

__all__ = ["count", "integer"]


def integer(argument: str, value: Any) -> int:
    """Return an integer argument.

    argument : "operation: argument", for the message

    Raises TypeError for what is none; True and False are none, because they are likelier meant for a flag.
    """
    if not isinstance(value, bool):
        with suppress(TypeError):
            return operator.index(value)
    message = f"{argument} is {reprlib.repr(value)}, needs an integer; give an int"
    raise TypeError(message)


def count(argument: str, value: Any) -> int:
    """Return an integer argument that is at least 0. Raises TypeError for what is no integer, ValueError below 0."""
    number = integer(argument, value)
    if number < 0:
        message = f"{argument} {number} is below 0; give 0 or more"
        raise ValueError(message)
    return number
