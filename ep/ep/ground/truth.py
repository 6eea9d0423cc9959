"""Arguments that are True or False."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ep.ground.glimpse import glimpse

__all__ = ["truth"]


def truth(argument: str, value: Any) -> bool:
    """Return an argument that is True or False, of Python or of another library, or the numbers 1 and 0.

    argument : "operation: argument", for the message

    Raises TypeError for anything else.
    """
    if value is True or value is False:
        return value
    with suppress(Exception):  # a value that cannot be hashed or compared is no truth value
        if value in {False, True}:
            return bool(value)
    message = f"{argument} is {glimpse(value)}, needs a truth value; give True or False"
    raise TypeError(message)
