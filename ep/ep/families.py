"""Discovery of families: each package loaded alone and looked at once, so that a broken one is refused and named."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from ep.cells import LAYOUTS, Cell
from ep.claims import parse_version
from ep.descriptor import Descriptor
from ep.errors import UnavailableError
from ep.family import Family
from ep.registry import Registration, call_hook, entries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

__all__ = ["FamilyPackage", "families", "family_packages"]

_GROUP: Final = "ep.families"
_OURS: Final = "execution-provider"
"""The distribution that EP is: nobody's package takes the names of its families."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAKEN: Final = frozenset({"claims", "primitives", "runtime", "vendor", "waivers"})
"""First parts of case ids and claims that are no family's."""


class FamilyPackage(Registration):
    """One installed package of families; `fault` says why it, or a part of it, is refused.

    families : what it brings, by name
    """

    def __init__(self, entry: EntryPoint) -> None:
        super().__init__(entry)
        self.families: dict[str, Family] = {}
        self.is_ours = entry.dist is not None and entry.dist.name == _OURS

    def find(self, taken: Mapping[str, FamilyPackage]) -> None:
        """Call the package's hook and keep what is sound and has a name of its own; whatever it raises is its fault."""
        try:
            brought = self.guard(partial(_brought, self.package), "could not be loaded") or {}
        except UnavailableError as error:
            self.fault = str(error)
            return
        for name in sorted(brought.keys() & taken.keys()):
            other = taken[name]
            self.fault = f"family {name} is already brought by {other.package} ({other.distribution}); rename it or uninstall one"
        self.families = {name: family for name, family in brought.items() if name not in taken}


def families() -> Mapping[str, Family]:
    """Return every installed family by name. A package that fails to load is left out; `ep doctor` says why."""
    return {name: family for package in family_packages() for name, family in package.families.items()}


@cache
def family_packages() -> tuple[FamilyPackage, ...]:
    """Return every installed package of families, EP's own first, the refused ones too."""
    found = sorted([FamilyPackage(entry) for entry in entries(_GROUP)], key=lambda package: not package.is_ours)
    taken: dict[str, FamilyPackage] = {}
    for package in found:
        package.find(taken)
        taken.update(dict.fromkeys(package.families, package))
    return tuple(found)


def _brought(package: str) -> dict[str, Family]:
    """Return the families of a package by name. Raises TypeError or ValueError for what is none or has a name twice."""
    found: dict[str, Family] = {}
    for family in call_hook(package, "ep_families"):
        if not isinstance(family, Family):
            message = f"ep_families() of {package} brought {family!r}, needs instances of ep.Family"
            raise TypeError(message)
        _check(family)
        if family.name in found:
            message = f"ep_families() of {package} brought two families called {family.name}; rename one"
            raise ValueError(message)
        found[family.name] = family
    return found


def _check(family: Family) -> None:
    """Raise TypeError or ValueError for a family that could not be listed, claimed or asked for."""
    kind, name, descriptor = type(family).__name__, family.name, family.descriptor
    if not isinstance(name, str) or not _NAME.match(name) or name in _TAKEN:
        message = (
            f"{kind}: name is {name!r}, needs a word in small letters that is not one of {', '.join(sorted(_TAKEN))}"
        )
        raise ValueError(message)
    is_one = isinstance(descriptor, type) and issubclass(descriptor, Descriptor)
    if not is_one or getattr(descriptor, "family", None) != name:
        message = f"{kind}: descriptor is {descriptor!r}, needs a subclass of ep.Descriptor whose family is {name!r}"
        raise TypeError(message)
    cells: set[Cell] = set()
    for cell in family.cells():
        if not isinstance(cell, Cell) or cell.family != name or cell.layout not in LAYOUTS or cell in cells:
            message = (
                f"{kind}: cell {cell} needs family {name}, one of the layouts {', '.join(LAYOUTS)}, and to stand once"
            )
            raise ValueError(message)
        parse_version(family.since(cell))
        if not cells and not isinstance(sample := family.sample(cell), descriptor):
            message = f"{kind}: the sample of {cell} is {sample!r}, needs a {descriptor.__name__}"
            raise TypeError(message)
        cells.add(cell)
    if not cells:
        message = f"{kind}: has no cells, so nothing of it can be claimed or tried; yield them in cells()"
        raise ValueError(message)
