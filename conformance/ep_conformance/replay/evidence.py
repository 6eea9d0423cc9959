"""A worker's part of replay files: gather the work and data of a failing case, and run such a file again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ep
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.catalogue import CellCase, find
from ep_conformance.plan.sweep import Sweep
from ep_conformance.replay.file import Work
from ep_conformance.replay.smaller import smaller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_conformance.fixture.trial import Trial
    from ep_conformance.replay.file import Replay, Smallest

__all__ = ["gather", "perform"]


def gather(trial: Trial, execute: Callable[[CellCase], Outcome] | None) -> tuple[Work | None, Smallest | None]:
    """Return the work of a case of a cell, and less work that fails as well, if there is any.

    trial    : a fresh one of the case
    execute  : runs a case in a trial of its own; None if the case took its process with it, and only its data is wanted
    """
    found = find(trial.id, trial.seed)
    if not isinstance(found, CellCase) or isinstance(found.case, Sweep):
        return None, None
    case, drawn = found.case, []

    def keep(rng: Any) -> Mapping[str, Any]:
        drawn.append(found.case.data(rng))  # type: ignore[union-attr]  # no Sweep, as above
        return drawn[-1]

    keep(trial.rng)
    if execute is None:
        return Work.of(case, drawn[-1]), None
    outcome = execute(replace(found, case=replace(case, data=keep)))
    return Work.of(case, drawn[-1]), smaller(found, case, drawn[-1], outcome, execute)


def perform(trial: Trial, replay: Replay, execute: Callable[[CellCase | None], Outcome]) -> tuple[Outcome, str]:
    """Return the outcome of a replay file's case today, and a remark about its data.

    trial    : a fresh one of the case, which draws what the suite draws today
    execute  : runs the suite's case of that id, or one in place of it
    """
    try:
        found = find(replay.case, trial.seed)
    except KeyError:
        found = None
    work = replay.work
    if found is not None and (work is None or not isinstance(found, CellCase) or _is_same(trial, found, work)):
        return execute(None), ""
    what = "the suite has no such case any more" if found is None else "the suite draws other data for it today"
    if work is None or work.values is None:
        return Outcome(Status.MISSING, f"{what}, and the file does not hold the data that failed"), ""
    return execute(_stored(replay.case, work)), f"{what}: run with the data of the file"


def _is_same(trial: Trial, found: CellCase, work: Work) -> bool:
    """Say whether the suite would run exactly that."""
    case = found.case
    if isinstance(case, Sweep):
        return True
    today = Work.of(case, case.data(trial.rng))
    parts = ("inplace", "shift", "starts", "manner", "is_exact", "drawn")
    return (
        today is not None
        and case.descriptor == work.descriptor
        and all(getattr(today, part) == getattr(work, part) for part in parts)
    )


def _stored(identity: str, work: Work) -> CellCase:
    case = work.case(identity.rpartition("/")[2])
    family = ep.families()[work.construction.family]
    cell = ep.Cell(*case.descriptor.cell.split("/"))
    return CellCase(identity, cell, family, case)
