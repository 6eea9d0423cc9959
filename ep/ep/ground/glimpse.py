"""The text by which a message shows a caller's value: always short, and showing it never raises."""

from __future__ import annotations

import reprlib
from typing import Any, Final

__all__ = ["glimpse", "told"]

_MOST_BITS: Final = 2048  # of an integer that is shown by its digits; Python itself refuses to print long ones
_MOST: Final = 240
_MOST_TOLD: Final = 480


class _Glimpse(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxdict = 8
        self.maxother = 120

    def repr_int(self, value: Any, level: int) -> str:
        if value.bit_length() > _MOST_BITS:
            return f"<an integer of {value.bit_length()} bits>"
        return super().repr_int(value, level)

    def repr_bytes(self, value: Any, _: int) -> str:
        return f"{value[: self.maxstring]!r}{'...' if len(value) > self.maxstring else ''}"

    repr_bytearray = repr_bytes


_SHOW: Final = _Glimpse()


def glimpse(value: Any) -> str:
    """Return the repr of a value in at most 240 characters; a value whose repr raises is named by its type."""
    try:
        return _cut(_SHOW.repr(value), _MOST)
    except Exception:  # noqa: BLE001 - the value's own code, in the middle of a message about something else
        return _cut(f"<an unprintable {type(value).__name__}>", _MOST)


def told(thing: object) -> str:
    """Return what an error of others, or another value, says as text: in at most 480 characters and one line."""
    try:
        text = " ".join(str(thing).split())
    except Exception:  # noqa: BLE001 - as above
        text = ""
    return _cut(text or type(thing).__name__, _MOST_TOLD)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 4 :]}"
