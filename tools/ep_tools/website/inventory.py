"""The inventory of a built site, objects.inv: every object that has a place in it, by kind and name."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Inventory", "read_inventory"]

Inventory = dict[str, dict[str, str]]
"""Kind to name to place, such as `reference/rows.html#row-copy`."""

_LINE: Final = re.compile(r"(.+?) (\S+:\S+) -?\d+ (\S+) .*")
_HEAD_LINES: Final = 4


def read_inventory(site: Path) -> Inventory:
    """Return the inventory of a site."""
    packed = (site / "objects.inv").read_bytes().split(b"\n", _HEAD_LINES)[_HEAD_LINES]
    found: Inventory = {}
    for line in zlib.decompress(packed).decode().splitlines():
        if match := _LINE.fullmatch(line):
            name, kind, place = match.groups()
            found.setdefault(kind, {})[name] = place.replace("$", name) if place.endswith("$") else place
    return found
