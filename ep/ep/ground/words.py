"""Texts of plug-ins and other libraries: exceptions whose own code may raise, texts that could control a terminal."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cut", "message", "said", "shown", "shown_lines", "traced"]

_LONGEST: Final = 2000
_LONGEST_TRACEBACK: Final = 32_000
_SILENT: Final = "it cannot be shown: its own code raises"


def message(error: BaseException) -> str:
    """Return an exception's message, cut; or a substitute if it has none or its own code raises."""
    return cut(_safely(lambda: str(error)) or "it gave no reason")


def said(error: BaseException) -> str:
    """Return "Type: message" of an exception, cut, whatever its own code does."""
    return cut(f"{_safely(lambda: type(error).__name__)}: {_safely(lambda: str(error))}".removesuffix(": "))


def traced(error: BaseException) -> str:
    """Return an exception's traceback, without its middle if it is long."""
    text = _safely(lambda: "".join(traceback.format_exception(error)))
    left_out = len(text) - _LONGEST_TRACEBACK
    if left_out <= 0:
        return text
    half = _LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n... ({left_out} characters left out)\n{text[-half:]}"


def cut(text: str, most: int = _LONGEST) -> str:
    """Return a text's first characters, and how many were left out."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text) - most} more characters)"


def shown(text: str, most: int = _LONGEST) -> str:
    """Return a text as one line that acts on no terminal: cut, its control and direction characters written out."""
    return _visible(" ".join(line for line in cut(text, most).splitlines() if line.strip()))


def shown_lines(text: str, most: int = 2 * _LONGEST_TRACEBACK) -> str:
    """Return a text of many lines that acts on no terminal, cut."""
    return "\n".join(_visible(line.replace("\t", "    ")) for line in cut(text, most).splitlines())


def _visible(line: str) -> str:
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)


def _safely(speak: Callable[[], str]) -> str:
    """Return the text of another library's object as a plain string."""
    try:
        return "".join([speak()])  # noqa: FLY002 - a subclass of str has methods of its own
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever it raises, the finding stands
        return _SILENT
