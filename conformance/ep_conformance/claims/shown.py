"""The cells that hold by a run, and the fewest patterns that claim just these."""

from __future__ import annotations

import functools
import itertools
import json
import re
import site
import sysconfig
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep.layout.cells import matches
from ep.plugin.claims import Claim

from ep_conformance import SUITE
from ep_conformance.claims.cover import cover
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import cell_cases, cells, named_cases
from ep_conformance.runtime import RuntimeCase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ep_conformance.report.report import Report

__all__ = [
    "Shown",
    "claim_table",
    "claim_tables",
    "claimables",
    "claims_of",
    "features_of",
    "is_cell",
    "is_installed",
    "new_file",
    "patterns",
    "shown",
]

_NEEDS: Final = {"float64": "fp64", "complex128": "fp64", "float16": "fp16"}
"""For element types that some devices lack: the feature of devices that have it."""


def is_installed(path: Path) -> bool:
    """Say whether a path lies where packages are installed, whose files are not edited."""
    places = {*site.getsitepackages(), site.getusersitepackages(), *map(sysconfig.get_path, ("purelib", "platlib"))}
    resolved = path.resolve()
    return any(resolved.is_relative_to(Path(place).resolve()) for place in places)


@functools.cache
def claimables() -> tuple[str, ...]:
    """Return everything that a pattern may claim: cells, optional abilities, vendors' cases."""
    named = named_cases().items()
    others = (identity for identity, case in named if not isinstance(case, RuntimeCase) or case.optional)
    return (*itertools.chain.from_iterable(_cells().values()), *others)


@functools.cache
def _cells() -> dict[str, tuple[str, ...]]:
    """Return the cells of each family: listing all cells takes half a second."""
    families: dict[str, list[str]] = defaultdict(list)
    for family, cell in cells():
        families[family.name].append(str(cell))
    return {family: tuple(members) for family, members in families.items()}


@dataclass(frozen=True)
class Shown:
    """The results of a run by cell, ability and vendor's case, named as in claims.

    holding   : names all of whose cases passed
    failing   : names with a failing case that is not waived, with its id and reason
    features  : features of the device
    """

    holding: frozenset[str]
    failing: dict[str, str]
    features: frozenset[str]


def shown(report: Report) -> Shown:
    """Return the results in a report. A cell with a case that has no verdict does not hold."""
    passed: set[str] = set()
    other: set[str] = set()
    failing: dict[str, str] = {}
    for verdict in report.verdicts:
        name = _claimed_as(verdict.id)
        if verdict.status in {Status.PASS, Status.UNEXPECTED_PASS} or verdict.is_claimable:
            passed.add(name)
        elif verdict.is_failure and verdict.status is not Status.MISSING:
            failing.setdefault(name, f"{verdict.status}: {verdict.id}: {verdict.outcome.reason}".splitlines()[0])
        else:
            other.add(name)
    known = set(claimables())
    holding = (passed - other - failing.keys()) & known
    ids = {verdict.id for verdict in report.verdicts}  # of `--filter` and `--failed` not all of a cell
    whole = {
        str(cell)
        for family, cell in cells()
        if str(cell) in holding and all(case.id in ids for case in cell_cases(family, cell, report.profile))
    }
    holding = {name for name in holding if name in whole or name in named_cases()}
    failing = {name: reason for name, reason in failing.items() if name in known}
    return Shown(frozenset(holding), failing, frozenset(report.subject.device["features"]))


def features_of(names: Iterable[str]) -> set[str]:
    """Return the features of devices that the element types of these names need."""
    return set().union(*map(_needs, names))


def is_cell(pattern: str) -> bool:
    """Say whether a pattern is one of cells, not of a case's id."""
    return not matches(pattern.partition("/")[0], "runtime") and pattern not in named_cases()


def claims_of(names: Collection[str], features: Iterable[str]) -> list[Claim]:
    """Return claims that cover these names and no other of the suite, on a device with these features.

    A claim of an element type that needs one of these features has it as its condition.
    """
    have = set(features)
    groups: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name in names:
        groups[tuple(sorted(_needs(name) & have))].add(name)
    return [Claim(pattern, when) for when, group in sorted(groups.items()) for pattern in patterns(group)]


def claim_tables(claims: Iterable[Claim]) -> str:
    """Return [[claim]] tables of these claims, one for each condition."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for claim in claims:
        groups[claim.when].append(claim.cells)
    return "\n".join(claim_table(cells_of, when) for when, cells_of in groups.items())


def claim_table(cells_of: Sequence[str], when: Sequence[str]) -> str:
    """Return one [[claim]] table."""
    lines = ["[[claim]]", "cells = [", *(f'    "{pattern}",' for pattern in cells_of), "]"]
    if len(cells_of) == 1:
        lines = ["[[claim]]", f'cells = "{cells_of[0]}"']
    return "\n".join([*lines, f"when = {json.dumps(list(when))}"] if when else lines) + "\n"


def patterns(names: Collection[str]) -> list[str]:
    """Return patterns that match these names and no other of the suite, few of them."""
    wanted = set(names)
    found: list[str] = []
    for known in _cells().values():
        of_family = wanted.intersection(known)
        if of_family:
            found += cover(of_family, known)
    return found + sorted(wanted & named_cases().keys())


def _needs(name: str) -> set[str]:
    return {_NEEDS[word] for word in re.findall(r"\w+", name) if word in _NEEDS}


def new_file() -> str:
    """Return a claims.toml that claims nothing."""
    return f'suite = "{SUITE}"\n'


def _claimed_as(identity: str) -> str:
    return "/".join(identity.split("/")[1:5]) if identity.startswith("primitives/") else identity
