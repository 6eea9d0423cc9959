"""The rows of the .def files: which ops the bodies have, for which kinds of element, with how many attributes."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["Row", "rows"]

_FAMILIES: Final = Path(__file__).parents[1] / "families"

_ROW: Final = re.compile(r"EP_(?:UNARY|BINARY)\((\w+), *(\w+), *(\w+), *EP_A(\d)(?:\([^)]*\))?, *(.+)\)\Z")


class Row(NamedTuple):
    """One row of a .def file.

    kind        : FLOATING, INTEGER or BOOLEAN: the inputs it is written for
    result      : SAME, or TEST if the output is bool
    op          : its name
    attributes  : how many it takes
    expression  : the result's value
    """

    kind: str
    result: str
    op: str
    attributes: int
    expression: str


@functools.cache
def rows(family: str) -> tuple[Row, ...]:
    """Return the rows of a family in the file's order, none for a family without ops.

    Raises ValueError for a line of the file that is neither a row nor a comment.
    """
    path = _FAMILIES / family / f"{family}.def"
    return tuple(_row(line, path.name) for line in _lines(path)) if path.exists() else ()


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("//")]


def _row(line: str, name: str) -> Row:
    found = _ROW.match(line)
    if found is None:
        message = f"{name}: {line!r} is not a row; see its first line for the form"
        raise ValueError(message)
    kind, result, op, attributes, expression = found.groups()
    return Row(kind, result, op, int(attributes), expression)
