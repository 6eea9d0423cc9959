"""Docstrings as reStructuredText: their lines `name : text` as fields, code in backticks as code or as a reference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import ep
from ep_tools.website.packages import public

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["restructured"]

_RULE: Final = re.compile(r"(\w[\w, ]*?) +: (.*)")
_CODE: Final = re.compile(r"(`[^`]+`)")
_ERROR: Final = re.compile(r"\b\w+Error\b")
_ERRORS: Final = frozenset(name for name in ep.__all__ if name.endswith("Error"))


def restructured(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a docstring in reStructuredText."""
    inside = ""
    for line in lines:
        if not line.strip():
            inside = ""
            yield ""
        elif inside == "code" or (not inside and line.startswith("    ")):
            if not inside:
                yield "::\n"
            inside = "code"
            yield line
        elif found := _RULE.fullmatch(line):
            # Fields that lie in a container are left alone: names of arguments keep their small letters.
            if inside != "rules":
                yield from ("", ".. container:: facts", "")
            inside = "rules"
            yield f"   :{_escaped(found[1])}: {_text(found[2])}"
        elif inside == "rules" and line.startswith(" "):
            yield f"       {_text(line.strip())}"
        else:
            if inside == "rules":
                yield ""
            inside = "text"
            yield _text(line.strip())


def _text(text: str) -> str:
    """Return a line in which nothing but code and the names of errors is markup."""
    parts = _CODE.split(text)
    parts[::2] = [_ERROR.sub(_error, _escaped(part)) for part in parts[::2]]
    parts[1::2] = [_code(part[1:-1]) for part in parts[1::2]]
    # What touches a word is no markup to reStructuredText unless an escaped space divides them.
    return (
        re.sub(r"(?<=[\w\x00])(?=\x00)|(?<=\x01)(?=\w)", r"\\ ", "".join(parts)).replace("\x00", "").replace("\x01", "")
    )


def _escaped(text: str) -> str:
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", re.sub(r"([\\*|])", r"\\\1", text))


def _error(match: re.Match[str]) -> str:
    return f"\x00:py:exc:`~ep.{match[0]}`\x01" if match[0] in _ERRORS else match[0]


def _code(code: str) -> str:
    """Return a reference where the code names something public, as in `device.allocate`, else a literal."""
    name = code.removesuffix("()")
    head, _, rest = name.partition(".")
    if (
        re.fullmatch(r"[a-z]+\.[a-z]\w*", name)
        and head.capitalize() in ep.__all__
        and hasattr(getattr(ep, head.capitalize()), rest)
    ):
        return f"\x00:py:obj:`{code} <ep.{head.capitalize()}.{rest}>`\x01"
    bare = name.rpartition(".")[2]
    if bare[:1].isupper() and name in {bare, public(bare)} and public(bare):
        return f"\x00:py:obj:`{code} <{public(bare)}>`\x01"
    return f"\x00``{code}``\x01"
