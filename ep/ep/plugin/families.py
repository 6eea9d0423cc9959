"""Discovery of families: each package loaded alone and looked at once, so that a broken one is refused and named."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from ep.errors import UnavailableError
from ep.ground.glimpse import glimpse
from ep.ground.turn import Turn
from ep.layout.cells import LAYOUTS, Cell
from ep.plugin.claims import parse_version
from ep.plugin.family import Family
from ep.plugin.registry import Registration, call_hook, entries
from ep.work.descriptor import Descriptor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ep.plugin.distributions import Entry

__all__ = ["FamilyPackage", "check_family", "families", "family_packages", "installed_packages", "share"]

_GROUP: Final = "ep.families"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_TAKEN: Final = frozenset({"claims", "collective", "primitives", "runtime", "vendor", "waivers"})
"""First parts of case ids and claims that are no family's."""
_TURN: Final = Turn("the list of families")


class FamilyPackage(Registration):
    """One installed package of families; `fault` says why it, or a part of it, is refused.

    families : its families by name
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.families: dict[str, Family] = {}

    def find(self) -> None:
        """Call the package's hook and keep its families if all are sound; an exception becomes its `fault`."""
        try:
            brought = partial(_brought, self.package, is_ours=self.is_ours)
            self.families = self.guard(brought, "could not be loaded") or {}
        except UnavailableError as error:
            self.fault = str(error)

    def give_up(self, taken: Mapping[str, str]) -> None:
        """Drop families whose names another package has taken; `taken` names that package."""
        for name in sorted(self.families.keys() & taken.keys()):
            self.fault = f"family {name} is already brought by {taken[name]}; rename it or uninstall one"
            del self.families[name]


_found: list[tuple[FamilyPackage, ...]] = []


def families() -> Mapping[str, Family]:
    """Return every installed family by name. A package that fails to load is left out; `ep doctor` says why."""
    return {name: family for package in family_packages() for name, family in package.families.items()}


def family_packages() -> tuple[FamilyPackage, ...]:
    """Return every installed package of families, EP's own first, the refused ones too; each hook is called once.

    Raises UnavailableError if this thread is loading them already.
    """
    if not _found:
        with _TURN.taken():
            if not _found:
                packages = installed_packages()
                for package in packages:
                    package.find()
                share(packages)
                if _TURN.refusal and not _TURN.asked_for_itself:
                    return packages  # a hook asked for what this thread is loading; later it may have it
                _found.append(packages)
    return _found[0]


def installed_packages() -> tuple[FamilyPackage, ...]:
    """Return every installed package of families, EP's own first, none of them loaded."""
    return tuple(sorted(map(FamilyPackage, entries(_GROUP)), key=lambda package: not package.is_ours))


def share(packages: tuple[FamilyPackage, ...]) -> None:
    """Leave each family to the first package that brings its name."""
    taken: dict[str, str] = {}
    for package in packages:
        package.give_up(taken)
        taken.update(dict.fromkeys(package.families, f"{package.package} ({package.distribution})"))


def _brought(package: str, *, is_ours: bool) -> dict[str, Family]:
    """Return the families of a package by name. Raises TypeError for other objects, ValueError for equal names."""
    found: dict[str, Family] = {}
    for family in call_hook(package, "ep_families"):
        if not isinstance(family, Family):
            message = f"ep_families() of {package} brought {glimpse(family)}, needs instances of ep.Family"
            raise TypeError(message)
        if not is_ours:  # of EP's own a test checks them: all their cells would take every process a fifth of a second
            check_family(family)
        if family.name in found:
            message = f"ep_families() of {package} brought two families called {family.name}; rename one"
            raise ValueError(message)
        found[family.name] = family
    return found


def check_family(family: Family) -> None:
    """Raise TypeError or ValueError for a family that could not be listed, claimed or asked for."""
    kind, name, descriptor = type(family).__name__, family.name, family.descriptor
    if not isinstance(name, str) or not _NAME.match(name) or name in _TAKEN:
        message = f"{kind}: name is {glimpse(name)}, needs a word in small letters that is not one of {', '.join(sorted(_TAKEN))}"
        raise ValueError(message)
    is_one = isinstance(descriptor, type) and issubclass(descriptor, Descriptor)
    if not is_one or getattr(descriptor, "family", None) != name:
        message = (
            f"{kind}: descriptor is {glimpse(descriptor)}, needs a subclass of ep.Descriptor whose family is {name!r}"
        )
        raise TypeError(message)
    cells: set[Cell] = set()
    for cell in family.cells():
        if not isinstance(cell, Cell) or cell.family != name or cell.layout not in LAYOUTS or cell in cells:
            message = (
                f"{kind}: cell {cell} needs family {name}, one of the layouts {', '.join(LAYOUTS)}, and to stand once"
            )
            raise ValueError(message)
        parse_version(family.since(cell))
        if not cells:
            _check_sample(kind, cell, family.sample(cell), descriptor)
        cells.add(cell)
    if not cells:
        message = f"{kind}: has no cells, so nothing of it can be claimed or tried; yield them in cells()"
        raise ValueError(message)


def _check_sample(kind: str, cell: Cell, sample: Any, descriptor: type[Descriptor]) -> None:
    if not isinstance(sample, descriptor):
        message = f"{kind}: the sample of {cell} is {glimpse(sample)}, needs a {descriptor.__name__}"
        raise TypeError(message)
    sample.roles.check_specs(f"{kind}: {descriptor.__name__}", sample.specs)
