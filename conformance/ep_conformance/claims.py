"""Write claims.toml from what a run showed: the cells that passed completely, in as few patterns as say just that."""

from __future__ import annotations

import json
import site
import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep_conformance import SUITE
from ep_conformance.catalogue import cells
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["claims_text", "is_installed", "passed_cells"]

_NEEDS: Final = {"float64": "fp64", "complex128": "fp64", "float16": "fp16"}
"""The feature of devices that have an element type, for those that some devices lack."""


def is_installed(path: Path) -> bool:
    """Say whether a path lies where packages are installed: nobody edits a claim there."""
    places = {*site.getsitepackages(), site.getusersitepackages(), *map(sysconfig.get_path, ("purelib", "platlib"))}
    resolved = path.resolve()
    return any(resolved.is_relative_to(Path(place).resolve()) for place in places)


def passed_cells(outcomes: Iterable[tuple[str, Outcome]]) -> list[str]:
    """Return the cells and optional runtime cases of which every case passed, in the order given.

    outcomes : case id and what it showed, each case of a cell once
    """
    fates: dict[str, bool] = {}
    for identity, outcome in outcomes:
        name = "/".join(identity.split("/")[1:5]) if identity.startswith("primitives/") else identity
        fates[name] = fates.get(name, True) and outcome.status is Status.PASS
    return [name for name, passed in fates.items() if passed]


def claims_text(names: Sequence[str], features: Iterable[str]) -> str:
    """Return a claims.toml that covers exactly these cells and runtime cases of this suite.

    features : of the device that passed; a cell of a type that only some devices have asks for its feature
    """
    have = set(features)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pattern in _patterns(set(names)):
        groups[tuple(sorted({need for dtype, need in _NEEDS.items() if dtype in pattern} & have))].append(pattern)
    lines = [f'suite = "{SUITE}"']
    for when, patterns in sorted(groups.items()):
        lines += ["", "[[claim]]", "cells = [", *(f'    "{pattern}",' for pattern in patterns), "]"]
        if when:
            lines.append(f"when = {json.dumps(when)}")
    return "\n".join(lines) + "\n"


def _patterns(names: set[str]) -> list[str]:
    """Return patterns that match these names and no other of the suite; dtypes that need a feature stay spelled out."""
    rows: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for _, cell in cells():
        rows[cell.family, cell.op, cell.dtypes].append(str(cell))
    whole = {row: all(cell in names for cell in members) for row, members in rows.items()}
    patterns: list[str] = []
    done: set[tuple[str, str]] = set()
    for (family, op, dtypes), members in rows.items():
        if not whole[family, op, dtypes]:
            patterns += [cell for cell in members if cell in names]
            continue
        same = [row for row in rows if row[0] == family and row[2] == dtypes]
        if all(whole[row] for row in same):
            if (family, dtypes) not in done:
                done.add((family, dtypes))
                patterns.append(f"{family}/*/{dtypes}/*")
        else:
            patterns.append(f"{family}/{op}/{dtypes}/*")
    return patterns + sorted(name for name in names if name.startswith("runtime/"))
