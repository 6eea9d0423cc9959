"""A run over processes that mpiexec started, each of them a rank: the first one reports, the others follow it case by case."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ep_collectives import mpi_group
from ep_collectives.mpi.library import library

import ep
from ep_conformance.collective import MOST_RANKS
from ep_conformance.collective.ranks import Ranks
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Standing
from ep_conformance.run.runner import Runner
from ep_conformance.run.worker import execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_conformance.run.verdict import Verdict
    from ep_conformance.run.worker import Job
    from ep_conformance.run.workers import Worker

__all__ = ["Spread", "SpreadRunner", "joined"]

_TICK: Final = 1e-3
_LATE: Final = 10.0
"""Seconds beyond the limit of a case after which a run ends: the ranks of a collective get errors of their own before."""
_HUNG: Final = 1


class Spread:
    """This process among those of a run.

    rank, size : its number, and how many there are

    Raises UnavailableError without MPI, ValueError for more processes than cases have ranks.
    """

    def __init__(self) -> None:
        mpi = library()
        self._mpi, self._comm = mpi, mpi.COMM_WORLD.Dup()
        self.rank: int = self._comm.rank
        self.size: int = self._comm.size
        if self.size > MOST_RANKS:
            message = f"--ranks mpi: {self.size} processes, needs at most {MOST_RANKS}; start fewer with mpiexec -n"
            raise ValueError(message)
        os.environ.setdefault("EP_CPU_THREADS", str(max(1, (os.cpu_count() or 1) // self.size)))
        Ranks.groups = staticmethod(_over_mpi)

    def runner(self, *given: Any, **options: Any) -> SpreadRunner:
        """Return what runs a plan in all processes; it takes a `Runner`'s arguments."""
        return SpreadRunner(self, *given, **options)

    def share(self, value: Any = None) -> Any:
        """Return at every process what the first one gives."""
        self._meet(None)
        return self._comm.bcast(value, root=0)

    def gather(self, outcome: Outcome, identity: str, limit: float) -> list[Outcome]:
        """Return at the first process the outcomes of all. One that is later than `limit` seconds ends the run."""
        self._meet(limit, identity)
        return self._comm.gather(outcome, root=0) or []

    def follow(self, job: Job, limit: float) -> int:
        """Run the cases that the first process names, and return the exit code that it gives."""
        try:
            while (identity := self.share()) is not None:
                self.gather(execute(ep.device(job.device), identity, job), identity, limit)
            code: int = self.share()
        except KeyboardInterrupt:
            self.abort(130)
        return code

    def dismiss(self, code: int) -> None:
        """Let the other processes end with an exit code."""
        self.share(None)
        self.share(code)

    def abort(self, code: int) -> NoReturn:
        """End all processes now."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._comm.Abort(code)
        raise SystemExit(code)

    def _meet(self, limit: float | None, identity: str = "") -> None:
        """Wait for all processes, asleep: they share the cores."""
        request = self._comm.Ibarrier()
        end = None if limit is None else time.monotonic() + limit
        while not request.Test():
            if end is not None and time.monotonic() > end:
                sys.stderr.write(
                    f"ep-conformance: not all ranks had a verdict of {identity} after {limit:g} s; the run ends\n"
                )
                self.abort(_HUNG)
            time.sleep(_TICK)


class SpreadRunner(Runner):
    """Runs a plan in this process and in those that follow it; a case passes if it does at every rank."""

    def __init__(self, spread: Spread, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._spread = spread

    def run(self, first: Worker | None = None, known: Mapping[str, Verdict] = MappingProxyType({})) -> None:
        if first is not None:
            first.dismiss()
        device = ep.device(self._job.device)
        for planned in self._plan.values():
            if not planned.runs:
                fate = Status.MISSING if planned.standing is Standing.STALE else Status.UNSUPPORTED
                self._tries.settle(planned.id, Outcome(fate, planned.reason))
            elif planned.id in known:
                self._keep(known[planned.id])
            else:
                self._spread.share(planned.id)
                outcome = execute(device, planned.id, self._job)
                self._tries.settle(planned.id, joined(self._spread.gather(outcome, planned.id, self._limit + _LATE)))


def joined(outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of all ranks: that of the first which did not pass, by name."""
    for rank, outcome in enumerate(outcomes):
        if outcome.status is not Status.PASS:
            return replace(outcome, reason=f"rank {rank}: {outcome.reason}")
    return max(outcomes, key=lambda outcome: outcome.seconds)


def _over_mpi(size: int, timeout: float) -> dict[int, ep.spi.Group]:
    """Return this process's group. Raises ValueError for a case of other ranks than there are processes."""
    group = mpi_group(timeout=timeout)
    if group.size != size:
        message = f"the case has {size} ranks, and MPI has {group.size} processes"
        raise ValueError(message)
    return {group.rank: group}
