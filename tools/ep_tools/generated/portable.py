"""The claims of providers that run the portable kernels: the cells that hold on a device with some features, and need no more."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import ep_simt
from ep_conformance.claims.cover import cover
from ep_conformance.claims.shown import claim_table

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DOUBLES", "LINE", "ROUNDED", "holding", "portable_claims"]

DOUBLES: Final = "fp64"
ROUNDED: Final = "rounded-divide-sqrt"

LINE: Final = "# The portable kernels, as `python tools {}` writes them.\n"
"""Begins what is written in a file of claims; with the command's name."""


def portable_claims(*features: str) -> str:
    """Return the [[claim]] tables of all cells, one for each set of these features that cells need.

    A cell holds if the portable kernels run its typical descriptor, or all stages that it lowers to. A device has every feature that is
    not among these. Patterns of a table may cover cells of tables that need less.
    """
    found = {
        have: holding(frozenset(have), frozenset(features))
        for number in range(len(features) + 1)
        for have in itertools.combinations(features, number)
    }
    tables, known = [], {str(cell): family for family in ep.families() for cell in ep.families()[family].cells()}
    for have, cells in found.items():
        less = {cell for fewer, own in found.items() if {*fewer} < {*have} for cell in own}
        wanted = cells - less
        patterns = [pattern for family in ep.families() for pattern in _cover(family, wanted, known, less)]
        if patterns:
            tables.append(claim_table(patterns, have))
    return "\n".join(tables)


def _cover(family: str, wanted: set[str], known: Mapping[str, str], free: set[str]) -> list[str]:
    """Return patterns for the wanted cells of a family; they may match the free ones."""
    own = {cell for cell in wanted if known[cell] == family}
    return cover(own, [cell for cell, home in known.items() if home == family and cell not in free]) if own else []


def holding(have: frozenset[str], asked: frozenset[str]) -> set[str]:
    """Return the cells that hold on a device with some of these features, and without the others that are asked about."""
    lacks = asked - have
    dtypes = frozenset(ep_simt.ELEMENTS) - ({"float64", "complex128"} if DOUBLES in lacks else set())
    device = ep.DeviceInfo("any", "EP", dtypes=dtypes, features=frozenset({DOUBLES, ROUNDED, "host-memory"} - lacks))
    return {
        str(cell)
        for family in ep.families().values()
        for cell in family.cells()
        if ep_simt.has_kernels(family.sample(cell), device, ROUNDED)
    }
