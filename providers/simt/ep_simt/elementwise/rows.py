"""The rows of the .def files: which ops the bodies have, for which kinds of element, with how many attributes."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Final, NamedTuple

from ep_simt.elements import complex_of, kinds_of, part_of
from ep_simt.mathematics import computes_in_double, is_arithmetic, needs_doubles

__all__ = ["Row", "row_of", "rows"]

_FAMILIES: Final = Path(__file__).parents[1] / "families"

_ROW: Final = re.compile(r"EP_(?:UNARY|BINARY)\((\w+), *(\w+), *(\w+), *\(([^)]*)\), *(.+)\)\Z")


class Row(NamedTuple):
    """One row of a .def file.

    kind        : of the inputs it is written for, see `kinds_of`
    result      : SAME; TEST if the output is bool; REAL or COMPLEX for that counterpart of the inputs' type
    op          : its name
    attributes  : their names in the expression
    expression  : the result's value
    """

    kind: str
    result: str
    op: str
    attributes: tuple[str, ...]
    expression: str

    @property
    def is_in_double(self) -> bool:
        """True if it computes in double, whatever its type is."""
        return self.kind == "COMPLEX" or computes_in_double(self.expression)

    @property
    def needs_doubles(self) -> bool:
        """True if it has no other way."""
        return self.kind == "COMPLEX" or needs_doubles(self.expression)

    @property
    def is_stepped(self) -> bool:
        """True if it has a brief form: see `values.h`."""
        return self.expression.startswith("EP_STEPPED(")

    @property
    def is_light(self) -> bool:
        """True if it waits for memory: it is arithmetic, and that of complex numbers no more than sums."""
        return self.kind != "COMPLEX" and is_arithmetic(self.expression)

    def result_of(self, element: str) -> str:
        """Return the element type of the output for one of the inputs, as called in C after `ep_`."""
        if self.result == "SAME":
            return element
        if self.result == "TEST":
            return "bool"
        return part_of(element) if self.result == "REAL" else complex_of(element)


@functools.cache
def rows(family: str) -> tuple[Row, ...]:
    """Return the rows of a family in the file's order, none for a family without ops.

    Raises ValueError for a line of the file that is neither a row nor a comment.
    """
    path = _FAMILIES / family / f"{family}.def"
    return tuple(_row(line, path.name) for line in _lines(path)) if path.exists() else ()


@functools.lru_cache(maxsize=4096)
def row_of(family: str, op: str, element: str) -> Row | None:
    """Return the row of an op for inputs of an element type, as called in C after `ep_`; None if there is none."""
    kinds = kinds_of(element)
    found = {row.kind: row for row in rows(family) if row.op == op}
    return next((found[kind] for kind in kinds if kind in found), None)


def _lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("//")]


def _row(line: str, name: str) -> Row:
    found = _ROW.match(line)
    if found is None:
        message = f"{name}: {line!r} is not a row; see its first line for the form"
        raise ValueError(message)
    kind, result, op, attributes, expression = found.groups()
    names = tuple(name.strip() for name in attributes.split(",") if name)
    return Row(kind, result, op, names, expression)
