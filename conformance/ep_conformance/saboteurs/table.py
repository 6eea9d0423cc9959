"""All saboteurs: what the tests of the suite assert, and what its report of itself prints."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Final

from ep_primitives.families import parts

from ep_conformance.saboteurs import themes
from ep_conformance.saboteurs.mutants.kernel import MUTANT
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import PLANTED, Saboteur

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HONEST", "SABOTEURS", "named", "table_lines"]

HONEST: Final = Saboteur("honest", HonestProvider, "")

# Imported, so that their saboteurs are planted.
for module in pkgutil.iter_modules(themes.__path__, f"{themes.__name__}."):
    importlib.import_module(module.name)
parts("defects")

SABOTEURS: Final = tuple(PLANTED)


def named(name: str) -> Saboteur:
    """Return the saboteur, the honest provider, or the one that takes any mutant, of a name."""
    return next(saboteur for saboteur in (HONEST, MUTANT, *SABOTEURS) if saboteur.name == name)


def table_lines() -> Iterator[str]:
    """Yield the table, one saboteur a line: name, defect, the case that kills it."""
    for saboteur in SABOTEURS:
        yield f"{saboteur.name:<33} {saboteur.defect:<105} {saboteur.killed_by}"
