"""All cases by id: those of the families' cells, and those of the runtime contract. No device is needed to list them."""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.case import Case

import ep
from ep_conformance.collective import collective_cases, ranks_of
from ep_conformance.fixture.cells import cells_of
from ep_conformance.plan.contributed import case_packages
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.plan.retired import renewed
from ep_conformance.plan.sweep import Sweep, sweeps
from ep_conformance.runtime import RuntimeCase, runtime_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CellCase",
    "cell_cases",
    "cells",
    "find",
    "is_within",
    "list_ids",
    "may_begin",
    "may_select",
    "named_cases",
    "prefix_of",
    "profile_of",
    "selects",
]

_PREFIX: Final = "primitives"
_PARTS: Final = 6
_WILD: Final = re.compile(r"[*?[]")
_CHOICE: Final = re.compile(r"\[!?\]?[^\]]*\]")


@dataclass(frozen=True)
class CellCase:
    """A case of a cell, with the family that knows its meaning."""

    id: str
    cell: ep.Cell
    family: ep.Family
    case: Case | Sweep


def is_within(needed: str, profile: str) -> bool:
    """Say whether a profile runs the cases of another."""
    return PROFILES.index(needed) <= PROFILES.index(profile)


def selects(pattern: str | None, identity: str) -> bool:
    """Say whether `--filter` lets a case through: one of its globs, with spaces between them, over the whole id; `*` may cross slashes."""
    return pattern is None or any(fnmatch.fnmatchcase(identity, glob) for glob in pattern.split())


def may_select(pattern: str | None, cell: ep.Cell) -> bool:
    """Say whether `--filter` could let a case of the cell through: listing the cases of all cells takes seconds."""
    return pattern is None or any(_may_match(glob, f"{_PREFIX}/{cell}/") for glob in pattern.split())


def _may_match(glob: str, prefix: str) -> bool:
    # All slashes of an id stand in front of its last part, so that a glob matches up to its last one there, too; one in
    # brackets may be any character.
    start = glob[: max(0, _CHOICE.sub(lambda choice: "?" * len(choice[0]), glob).rfind("/"))]
    return not start or fnmatch.fnmatchcase(prefix, f"{start}/*")


def may_begin(pattern: str | None, start: str) -> bool:
    """Say whether `--filter` could let an id through that begins so."""
    plain = [""] if pattern is None else [_WILD.split(glob, maxsplit=1)[0] for glob in pattern.split()]
    return any(each.startswith(start) or start.startswith(each) for each in plain)


def cells(pattern: str | None = None) -> Iterator[tuple[ep.Family, ep.Cell]]:
    """Yield every cell of every installed family; of families without a case that a `--filter` lets through, none."""
    for family in ep.families().values():
        if may_begin(pattern, f"{_PREFIX}/{family.name}/"):
            for cell in cells_of(family):
                yield family, cell


def prefix_of(cell: ep.Cell) -> str:
    """Return what the ids of a cell's cases begin with; the case's name, which has no slash, ends them."""
    return f"{_PREFIX}/{cell}/"


def cell_cases(family: ep.Family, cell: ep.Cell, profile: str) -> Iterator[CellCase]:
    """Yield the cases of a cell that a profile runs."""
    prefix = prefix_of(cell)
    for case in _within(family, cell, profile):
        yield CellCase(prefix + case.name, cell, family, case)


@functools.cache
def named_cases() -> dict[str, CellCase | RuntimeCase]:
    """Return the cases that stand by themselves, by id: those of the runtime contract, then those that vendors bring."""
    found: dict[str, CellCase | RuntimeCase] = {**runtime_cases()}
    for package in case_packages():
        for identity, case in package.cases.items():
            if isinstance(case, Case):
                cell = ep.Cell(*case.descriptor.cell.split("/"))
                found[identity] = CellCase(identity, cell, ep.families()[cell.family], case)
            else:
                found[identity] = RuntimeCase(identity, case.body, case.claim, optional=True, profile=case.profile)
    return found


def profile_of(case: CellCase | RuntimeCase) -> str:
    """Return the smallest profile that runs a case."""
    return case.case.profile if isinstance(case, CellCase) else case.profile


def list_ids(profile: str, pattern: str | None) -> Iterator[str]:
    """Yield the ids of a profile's cases that a glob lets through, runtime first, then vendors' own.

    Those of collectives are listed where the glob says of how many ranks, as they are run: `collective/4/*`.
    """
    yield from (identity for identity in collective_cases(ranks_of(pattern or "")) if selects(pattern, identity))
    for identity, named in named_cases().items():
        if is_within(profile_of(named), profile) and selects(pattern, identity):
            yield identity
    for family, cell in cells(pattern):
        if may_select(pattern, cell):
            prefix = prefix_of(cell)
            ids = [prefix + case.name for case in _within(family, cell, profile)]
            yield from ids if pattern is None else [identity for identity in ids if selects(pattern, identity)]


def _within(family: ep.Family, cell: ep.Cell, profile: str) -> Iterator[Case | Sweep]:
    profiles = PROFILES[: PROFILES.index(profile) + 1]
    swept = sweeps(family, cell) if "exhaustive" in profiles else ()
    return (case for case in (*family.cases(cell), *swept) if case.profile in profiles)


@functools.lru_cache(maxsize=16)
def _cases_of(family: str, cell: ep.Cell) -> dict[str, CellCase]:
    # Neighbours in a plan are of one cell, so that a few cells are enough to remember.
    if cell not in _cells_of(family):
        return {}
    return {found.id: found for found in cell_cases(ep.families()[family], cell, PROFILES[-1])}


@functools.cache
def _cells_of(family: str) -> frozenset[ep.Cell]:
    return frozenset(cells_of(ep.families()[family]))


def find(identity: str, seed: int = 0) -> CellCase | RuntimeCase:
    """Return the case of an id, as a run with this seed tries it; of a retired id its successor.

    Raises KeyError with a sentence for an id that names none.
    """
    identity = renewed(identity)
    parts = identity.split("/")
    found: CellCase | RuntimeCase | None
    if len(parts) == _PARTS and parts[0] == _PREFIX:
        family = ep.families().get(parts[1])
        found = None if family is None else _cases_of(family.name, ep.Cell(*parts[1:5])).get(identity)
    elif ranks := ranks_of(identity):
        found = collective_cases(ranks).get(identity)
    else:  # runtime cases are imported only when one is asked for
        found = named_cases().get(identity)
    if isinstance(found, CellCase) and isinstance(found.case, Case):
        return replace(found, case=found.case.seeded(seed))
    if found is not None:
        return found
    known = f"`ep-conformance list --filter '*{identity}*'` lists the ids that contain it"
    if not identity.startswith(f"{_PREFIX}/"):
        known += f"; ids of cases of cells begin with {_PREFIX}/"
    message = f"no case is called {identity!r}; {known}"
    raise KeyError(message)
