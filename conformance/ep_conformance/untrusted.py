"""JSON that somebody may have cut, edited or made up: whatever it holds, reading it ends in a table or in ValueError."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

__all__ = ["read_json", "text"]

_LONGEST_NUMBER: Final = 40
"""Digits of an integer: more fit no float, and take long."""


def read_json(text: str | bytes) -> Any:
    """Return what a JSON text holds.

    Raises ValueError for what is none: NaN and Infinity, which Python would read, nesting beyond all sense and numbers
    beyond 40 digits included.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer)
    except RecursionError:
        message = "it is nested too deeply"
        raise ValueError(message) from None


def _refuse(word: str) -> NoReturn:
    message = f"{word} is no JSON"
    raise ValueError(message)


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        message = f"a number of {len(digits)} digits, at most {_LONGEST_NUMBER} make sense"
        raise ValueError(message)
    return int(digits)


def text(value: Any) -> str:
    """Return a text of a table. Raises TypeError for what is none."""
    if not isinstance(value, str):
        message = f"{value!r} is no text"
        raise TypeError(message)
    return value
