"""PTX as words, each with the line that it stands on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PtxError", "Word", "words"]

_WORD: Final = re.compile(
    r"""(?P<newline>\n)
      | (?P<blank>[ \t\r]+ | //[^\n]*)
      | (?P<comment>/\*.*?\*/)
      | (?P<string>"[^"]*")
      | (?P<number>0[fF][0-9a-fA-F]{8} | 0[dD][0-9a-fA-F]{16} | 0[xX][0-9a-fA-F]+U? | 0[bB][01]+U?
                    | \d+\.\d*(?:[eE][-+]?\d+)? | \d+[eE][-+]?\d+ | \d+U?)(?![\w.])
      | (?P<name>(?:[\w$%.]|::)+)
      | (?P<mark>[-,;:{}\[\]()@!|+=<>*])""",
    re.VERBOSE | re.DOTALL,
)


class PtxError(ValueError):
    """A program that is no PTX, or that asks for what is not emulated; it names the line.

    is_supported : False if it may be right, but is not emulated
    """

    def __init__(self, line: int, message: str, *, is_supported: bool = True) -> None:
        super().__init__(f"line {line}: {message}")
        self.is_supported = is_supported


class Word(NamedTuple):
    """One word: a name, number, string or mark; `text` is "" at the end."""

    text: str
    line: int


def words(text: str, line: int = 1) -> Iterator[Word]:
    """Yield the words of a text that begins on a line, without blanks and comments. Raises PtxError."""
    place = 0
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None:
            raise PtxError(line, f"{text[place]!r} is not understood")
        kind = found.lastgroup
        if kind == "newline":
            line += 1
        elif kind == "comment":
            line += found.group().count("\n")
        elif kind != "blank":
            yield Word(found.group(), line)
        place = found.end()
