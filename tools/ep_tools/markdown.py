"""Markdown: docstrings taken apart, text in which nothing but code is markup, and tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["SEPARATOR", "Text", "escaped", "parse", "table"]

SEPARATOR: Final = r"\|"
"""A bar inside a cell."""

_RULE: Final = re.compile(r"(\w[\w, ]*?) +: (.*)")


class Text(NamedTuple):
    """A docstring taken apart: its first sentence, its lines `name : text`, and the paragraphs of the rest."""

    lead: str
    rules: Mapping[str, str]
    rest: Sequence[str]


def parse(doc: str) -> Text:
    """Take a docstring apart."""
    lead, *blocks = re.split(r"\n\s*\n", doc.strip())
    rules: dict[str, str] = {}
    rest = []
    for block in blocks:
        name = ""
        plain = []
        for line in block.splitlines():
            if found := _RULE.fullmatch(line):
                name = found[1]
                rules[name] = escaped(found[2])
            elif name and line.startswith(" "):
                rules[name] += f" {escaped(line.strip())}"
            else:
                plain.append(line.strip())
        rest += [escaped(" ".join(plain))] if plain else []
    return Text(escaped(" ".join(lead.split())), rules, rest)


def escaped(text: str) -> str:
    """Return text in which Markdown sees nothing but text, and code between backticks."""
    words = text.replace("\\", "\\\\").split("`")
    words[::2] = [re.sub(r"(\*|<(?=[A-Za-z/!]))", r"\\\1", word) for word in words[::2]]
    return "`".join(words)


def table(heads: Sequence[str], lines: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield a table."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for line in lines:
        yield f"| {' | '.join(str(cell).replace('|', SEPARATOR) for cell in line)} |"
