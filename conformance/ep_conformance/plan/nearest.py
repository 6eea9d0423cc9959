"""The ids nearest to one that names no case. A misspelt part is compared with parts of its kind, not with all ids."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.plan.catalogue import cell_cases, named_cases
from ep_conformance.plan.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest"]

_MOST: Final = 3
_ALIKE: Final = 0.6


def nearest(identity: str) -> list[str]:
    """Return at most three ids that are like it, the likest first."""
    named = difflib.get_close_matches(identity, named_cases(), _MOST, _ALIKE)
    if not identity.startswith("primitives/"):
        return named
    parts = (identity.split("/") + [""] * 5)[:6]
    names = difflib.get_close_matches(parts[1], ep.families(), 1, _ALIKE)
    if not names:
        return named
    family = ep.families()[names[0]]
    by_text = {str(cell): cell for cell in family.cells()}
    found: list[str] = []
    for text in _alike("/".join([family.name, *parts[2:5]]), by_text):
        ids = [case.id for case in cell_cases(family, by_text[text], PROFILES[-1])]
        near = difflib.get_close_matches(parts[5], [each.rpartition("/")[2] for each in ids], _MOST, _ALIKE)
        found += [f"primitives/{text}/{name}" for name in near] or ids[:1]
    return found[:_MOST]


def _alike(text: str, cells: Iterable[str]) -> list[str]:
    """Return the cells that differ least, part by part: ten thousand whole texts take seconds."""
    left = list(cells)
    for place, part in enumerate(text.split("/")):
        there = dict.fromkeys(name.split("/")[place] for name in left)
        wanted = [part] if part in there else difflib.get_close_matches(part, there, 2, 0.4) or list(there)[:1]
        left = [name for name in left if name.split("/")[place] in wanted]
    return left[:_MOST]
