"""What a run showed of claims, and the patterns that claim it: as few as say just that."""

from __future__ import annotations

import functools
import itertools
import json
import site
import sysconfig
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep_conformance import SUITE
from ep_conformance.catalogue import cell_cases, cells, named_cases
from ep_conformance.runtime import RuntimeCase
from ep_conformance.verdict import CLAIMABLE, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ep_conformance.report import Report
    from ep_conformance.verdict import Verdict

__all__ = ["Shown", "claim_table", "claim_tables", "claimables", "is_installed", "new_file", "patterns", "shown"]

_NEEDS: Final = {"float64": "fp64", "complex128": "fp64", "float16": "fp16"}
"""The feature of devices that have an element type, for those that some devices lack."""


def is_installed(path: Path) -> bool:
    """Say whether a path lies where packages are installed: nobody edits a claim there."""
    places = {*site.getsitepackages(), site.getusersitepackages(), *map(sysconfig.get_path, ("purelib", "platlib"))}
    resolved = path.resolve()
    return any(resolved.is_relative_to(Path(place).resolve()) for place in places)


@functools.cache
def claimables() -> tuple[str, ...]:
    """Return everything that a pattern may claim: cells, optional abilities, vendors' cases."""
    named = named_cases().items()
    others = (identity for identity, case in named if not isinstance(case, RuntimeCase) or case.optional)
    return (*itertools.chain.from_iterable(_rows().values()), *others)


@functools.cache
def _rows() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return the cells of each family, op and dtypes: listing all cells takes half a second."""
    rows: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for _, cell in cells():
        rows[cell.family, cell.op, cell.dtypes].append(str(cell))
    return {row: tuple(members) for row, members in rows.items()}


@dataclass(frozen=True)
class Shown:
    """What a run showed of cells, abilities and vendors' cases, each by its name in claims.

    holding   : every case passed
    failing   : one did not and is not waived, with its id and reason
    features  : of the device
    """

    holding: frozenset[str]
    failing: dict[str, str]
    features: frozenset[str]


def shown(report: Report) -> Shown:
    """Return what a report shows; of a cell of which a case has no verdict, nothing holds, and nothing fails without one."""
    passed: set[str] = set()
    other: set[str] = set()
    failing: dict[str, str] = {}
    for verdict in report.verdicts:
        name = _claimed_as(verdict.id)
        if verdict.status in {Status.PASS, Status.UNEXPECTED_PASS} or _is_claimable(verdict):
            passed.add(name)
        elif verdict.is_failure and verdict.status is not Status.MISSING:
            failing.setdefault(name, f"{verdict.status}: {verdict.id}: {verdict.outcome.reason}".splitlines()[0])
        else:
            other.add(name)
    known = set(claimables())
    holding = (passed - other - failing.keys()) & known
    if report.pattern is not None:
        ids = {verdict.id for verdict in report.verdicts}
        whole = {
            str(cell)
            for family, cell in cells()
            if str(cell) in holding and all(case.id in ids for case in cell_cases(family, cell, report.profile))
        }
        holding = {name for name in holding if name in whole or name in named_cases()}
    failing = {name: reason for name, reason in failing.items() if name in known}
    return Shown(frozenset(holding), failing, frozenset(report.subject.device["features"]))


def claim_tables(names: Sequence[str], features: Iterable[str]) -> str:
    """Return [[claim]] tables of these patterns; an element type that only some devices have asks for its feature.

    features : of the device that passed
    """
    have = set(features)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pattern in names:
        groups[tuple(sorted({need for dtype, need in _NEEDS.items() if dtype in pattern} & have))].append(pattern)
    return "\n".join(claim_table(patterns, when) for when, patterns in sorted(groups.items()))


def claim_table(cells_of: Sequence[str], when: Sequence[str]) -> str:
    """Return one [[claim]] table."""
    lines = ["[[claim]]", "cells = [", *(f'    "{pattern}",' for pattern in cells_of), "]"]
    if len(cells_of) == 1:
        lines = ["[[claim]]", f'cells = "{cells_of[0]}"']
    return "\n".join([*lines, f"when = {json.dumps(list(when))}"] if when else lines) + "\n"


def patterns(names: set[str]) -> list[str]:
    """Return patterns that match these names and no other of the suite; dtypes that need a feature stay spelled out."""
    rows = _rows()
    whole = {row: all(cell in names for cell in members) for row, members in rows.items()}
    alike: dict[tuple[str, str], bool] = {}
    for (family, _, dtypes), is_whole in whole.items():
        alike[family, dtypes] = alike.get((family, dtypes), True) and is_whole
    found: list[str] = []
    done: set[tuple[str, str]] = set()
    for (family, op, dtypes), members in rows.items():
        if not whole[family, op, dtypes]:
            found += [cell for cell in members if cell in names]
        elif not alike[family, dtypes]:
            found.append(f"{family}/{op}/{dtypes}/*")
        elif (family, dtypes) not in done:
            done.add((family, dtypes))
            found.append(f"{family}/*/{dtypes}/*")
    return found + sorted(name for name in names if name in named_cases())


def new_file() -> str:
    """Return a claims.toml that claims nothing."""
    return f'suite = "{SUITE}"\n'


def _claimed_as(identity: str) -> str:
    return "/".join(identity.split("/")[1:5]) if identity.startswith("primitives/") else identity


def _is_claimable(verdict: Verdict) -> bool:
    return verdict.notice and verdict.outcome.reason.startswith(CLAIMABLE)
