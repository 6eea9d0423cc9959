"""The situations that a family's folder keeps: a text file, a line a situation, which is only ever extended."""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep

__all__ = ["FILE", "array_of", "folder_of", "read_arrays", "write_arrays"]

FILE: Final = "situations.txt"
_HEAD: Final = "# Situations that cover every feasible pair; `python tools situations` adds what is missing.\n"

Arrays = dict[str, dict[str, tuple[str, ...]]]
"""By family and layout the texts of the situations, in the order in which they came."""


def array_of(family: ep.Family, layout: str) -> tuple[str, ...]:
    """Return the texts of a family's situations in a layout; none if its folder keeps none."""
    return _kept(folder_of(family)).get(family.name, {}).get(layout, ())


def folder_of(family: ep.Family) -> str:
    """Return the package whose folder a family's class lies in."""
    return sys.modules[type(family).__module__].__package__ or ""


@cache
def _kept(folder: str) -> Arrays:
    place = files(folder) / FILE
    return read_arrays(place.read_text()) if place.is_file() else {}


def read_arrays(text: str) -> Arrays:
    """Return the arrays that a file keeps: `[family layout]`, then a line for each situation."""
    found: dict[str, dict[str, list[str]]] = {}
    rows: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            family, layout = line.strip("[]").split()
            rows = found.setdefault(family, {}).setdefault(layout, [])
        elif line and not line.startswith("#"):
            rows.append(line)
    return {family: {layout: tuple(rows) for layout, rows in layouts.items()} for family, layouts in found.items()}


def write_arrays(arrays: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """Return the text of a file that keeps these arrays."""
    sections = [
        "\n".join([f"[{family} {layout}]", *rows, ""])
        for family, layouts in sorted(arrays.items())
        for layout, rows in layouts.items()
    ]
    return "\n".join([_HEAD, *sections])
