"""Set the cases of a profile on mutants, one after the other: the process that `score` starts, a mutant a line in, its fate out."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives.cases.case import Case
from ep_primitives.situations.family import SituatedFamily

import ep
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import cell_cases
from ep_conformance.run.orphan import end_with_parent
from ep_conformance.run.worker import Job, execute
from ep_conformance.saboteurs.mutants.kernel import MUTANT, Moment
from ep_conformance.saboteurs.mutants.mutant import Mutant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_conformance.plan.catalogue import CellCase

__all__ = ["Fate", "hunt"]


_MOST: Final = 100
"""Cases for a mutant: those with its values are a handful, and no other is meant to find it."""
_MANY: Final = {"quick": 2000}
_SOME: Final = 400
"""Cases for a stranger's mutant, by profile: no situation says which are meant to find it. Those of larger profiles take longer."""


class Fate(NamedTuple):
    """What became of a mutant.

    killer   : the case that failed because of it, "" if none did
    cases    : how many were run
    met      : launches that had its values; of a survivor that met none the suite lacks a situation
    strikes  : launches whose result it changed; of one that met launches and changed none nothing is known
    """

    killer: str
    cases: int
    met: int
    strikes: int

    @property
    def word(self) -> str:
        """What became of it, in words."""
        if self.killer:
            return "killed"
        return "without effect" if self.met and not self.strikes else "survived"


def hunt(device: ep.Device, mutant: Mutant, profile: str) -> Fate:
    """Run the cases of a mutant's cells until one fails: a hundred at most, those first whose situations have its values.

    Of a stranger's mutant more, from all cells: two thousand in profile quick.
    """
    Moment.mutant, Moment.met, Moment.strikes = mutant, 0, 0
    tried = 0
    try:
        for found in _cases(mutant, profile)[: _MANY.get(profile, _SOME) if mutant.is_strange else _MOST]:
            Moment.situation = getattr(found.case, "situation", {})
            outcome = execute(device, found.id, Job(device.name, profile, None, 0, None, Path()), found)
            tried += 1
            if outcome.status is Status.FAIL:
                return Fate(found.id, tried, Moment.met, Moment.strikes)
        return Fate("", tried, Moment.met, Moment.strikes)
    finally:
        Moment.mutant = None


def _cases(mutant: Mutant, profile: str) -> list[CellCase]:
    found = [each for cell in mutant.cells for each in _of(mutant.family, cell, mutant.layout, profile)]
    if mutant.is_strange:
        return sorted(found, key=lambda each: zlib.crc32(each.id.encode()))
    return sorted(found, key=lambda each: not _has(each, mutant.values))


def _has(found: CellCase, values: Sequence[tuple[str, str]]) -> bool:
    return isinstance(found.case, Case) and all(found.case.situation.get(name) == value for name, value in values)


@functools.lru_cache(maxsize=2048)
def _of(family: str, cell: str, layout: str, profile: str) -> tuple[CellCase, ...]:
    chosen = ep.families()[family]
    assert isinstance(chosen, SituatedFamily)
    op, _, dtypes = cell.partition("/")
    return tuple(cell_cases(chosen, ep.Cell(family, op, dtypes, layout), profile))


def _serve(profile: str) -> None:
    """Answer each mutant with its fate, in JSON; what anybody else prints goes to the error stream."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    device = ep.device(f"{MUTANT.name}:0")
    for line in sys.stdin:
        answers.write(json.dumps(hunt(device, Mutant.read(json.loads(line)), profile)) + "\n")
        answers.flush()


if __name__ == "__main__":
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends us
    _serve(sys.argv[1])
