"""The situations that a family's folder keeps: a text file, a line a situation, which is only ever extended."""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep

__all__ = ["FILE", "TIERS", "Tiers", "array_of", "folder_of", "read_arrays", "write_arrays"]

FILE: Final = "situations.txt"
_HEAD: Final = "# Situations that cover every feasible pair; `python tools situations` adds what is missing.\n"

TIERS: Final = ("quick", "late", "triples")
"""Quick: every pair of values that are not late. Late: the pairs of those that are. Triples: those of dangerous dimensions."""

Tiers = dict[str, tuple[str, ...]]
"""By tier the texts of the situations, in the order in which they came."""

Arrays = dict[str, dict[str, Tiers]]
"""By family and layout."""


def array_of(family: ep.Family, layout: str) -> Tiers:
    """Return the texts of a family's situations in a layout; none if its folder keeps none."""
    return _kept(folder_of(family)).get(family.name, {}).get(layout, {})


def folder_of(family: ep.Family) -> str:
    """Return the package whose folder a family's class lies in."""
    return sys.modules[type(family).__module__].__package__ or ""


@cache
def _kept(folder: str) -> Arrays:
    place = files(folder) / FILE
    return read_arrays(place.read_text()) if place.is_file() else {}


def read_arrays(text: str) -> Arrays:
    """Return the arrays that a file keeps: `[family layout tier]`, then a line for each situation."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    rows: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            family, layout, tier = line.strip("[]").split()
            rows = found.setdefault(family, {}).setdefault(layout, {}).setdefault(tier, [])
        elif line and not line.startswith("#"):
            rows.append(line)
    return {
        family: {layout: {tier: (*rows,) for tier, rows in tiers.items()} for layout, tiers in layouts.items()}
        for family, layouts in found.items()
    }


def write_arrays(arrays: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]) -> str:
    """Return the text of a file that keeps these arrays."""
    sections = [
        "\n".join([f"[{family} {layout} {tier}]", *rows, ""])
        for family, layouts in sorted(arrays.items())
        for layout, tiers in layouts.items()
        for tier, rows in tiers.items()
        if rows
    ]
    return "\n".join([_HEAD, *sections])
