"""Run a plan: batches go to persistent workers, and each case gets one verdict, even if it kills its worker."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.run.interrupts import undisturbed
from ep_conformance.run.tries import Batch, Tries
from ep_conformance.run.verdict import UNAVAILABLE, Verdict, settle
from ep_conformance.run.workers import Worker, ask, listen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_conformance.run.worker import Job

__all__ = ["HANG_SECONDS", "Runner"]

HANG_SECONDS: Final = {"quick": 30.0, "standard": 60.0, "large": 600.0, "exhaustive": 3600.0}
"""How long a case may take before it hangs, by profile."""

_BATCH: Final = 96
_EAGER_BATCH: Final = 8
_MOST_DEATHS: Final = 24
_TICK: Final = 0.25


class Runner:
    """Gives every case of a plan a verdict, and tells the culprit of a crash from its victims.

    `Tries` says what a case that fails is tried on. After a crash, hang or lost device the process is ended, a new one is
    probed, the case that was running runs alone in a fresh process, and those that had not begun run singly. `on_verdict`
    hears each verdict once, as it is settled.

    peak_memory : bytes of the largest worker, 0 where the system does not say
    gave_up     : the reason that the remaining cases do not run, "" while they do
    """

    def __init__(  # noqa: PLR0913 - the plan, the means, the limits and the listeners
        self,
        plan: Sequence[Planned],
        job: Job,
        jobs: int,
        limit: float,
        on_verdict: Callable[[Verdict], None],
        *,
        memory: int | None = None,
        is_eager: bool = False,
    ) -> None:
        """Make a runner.

        limit    : seconds that a case may take
        memory   : bytes that all workers may take for cases, None for all that is free
        is_eager : settle failing cases before the others run, not after them, where a further process spoils no caches
        """
        self._plan = {planned.id: planned for planned in plan}
        self._job = job
        self._jobs = jobs
        self._limit = limit
        self._memory = None if memory is None else memory // jobs
        self._is_eager = is_eager
        self._on_verdict = on_verdict
        self._verdicts: dict[str, Verdict] = {}
        self._tries = Tries(self._plan, self._keep)
        self._queue: deque[Batch] = deque()
        self._workers: list[Worker] = []
        self._deaths = 0
        self._is_deaf = False
        self.peak_memory = 0
        self.gave_up = ""

    def run(self, first: Worker | None = None, known: Mapping[str, Verdict] = MappingProxyType({})) -> None:
        """Run everything; KeyboardInterrupt and exceptions of `on_verdict` leave `verdicts` valid.

        first : a worker that is there already
        known : verdicts of a run that this one continues; these cases do not run again
        """
        for planned in self._plan.values():
            if not planned.runs:
                fate = Status.MISSING if planned.standing is Standing.STALE else Status.UNSUPPORTED
                self._tries.settle(planned.id, Outcome(fate, planned.reason))
            elif planned.id in known:
                self._keep(known[planned.id])
        left = [p for p in self._plan.values() if p.runs and p.id not in self._verdicts]
        self._queue.extend(_batches(left, _EAGER_BATCH if self._is_eager else _BATCH))
        try:
            if first is not None and self._queue:
                self._greet(first)
            while not self.gave_up and (self._queue or any(worker.is_busy for worker in self._workers)):
                self._assign()
                self._hear()
            for worker in self._workers:
                worker.dismiss()
            self._workers.clear()
            if self.gave_up:
                self._tries.give_up(self.gave_up)
        finally:
            with undisturbed():
                for worker in self._workers:
                    worker.end()
            self._workers.clear()

    @property
    def is_done(self) -> bool:
        """True if every case has a verdict."""
        return len(self._verdicts) == len(self._plan)

    def verdicts(self, reason: str = "") -> tuple[Verdict, ...]:
        """Return a verdict for each case in the plan's order; those that have none are missing for a reason."""
        why = self.gave_up or reason or "the run ended without a verdict"
        missing = Outcome(Status.MISSING, why)
        return tuple(self._verdicts.get(planned.id) or _missing(planned, missing) for planned in self._plan.values())

    def _assign(self) -> None:
        for worker in [*self._workers]:
            if not worker.is_busy and self._queue:
                self._give(worker)
        while self._queue and len(self._workers) < self._jobs and not self.gave_up:
            fresh = self._start()
            if fresh is not None:
                self._give(fresh)

    def _greet(self, first: Worker) -> None:
        """Take in a worker that was started elsewhere; a device that moves no bytes from the beginning is judged all the same."""
        self._workers.append(first)
        try:
            self._is_deaf = bool(ask(first, "probe", self._limit))
        except ep.UnavailableError:
            self._workers.remove(first)
            first.end()

    def _give(self, worker: Worker) -> None:
        batch = self._queue.popleft()
        culprits = self._tries.culprits
        is_spoiled = bool(culprits) and not culprits.isdisjoint(worker.ran)
        if worker.ran and (batch.is_fresh or is_spoiled) and not self._is_deaf:
            self._workers.remove(worker)
            worker.dismiss()
            fresh = self._start()
            if fresh is None:
                self._queue.appendleft(batch)
                return
            worker = fresh
        worker.run(batch, self._memory)

    def _start(self) -> Worker | None:
        """Return a new worker whose device answered a probe, None after giving up because it did not."""
        worker = Worker(self._job)
        try:
            trouble = ask(worker, "probe", self._limit)
        except ep.UnavailableError as error:
            trouble = str(error)
        except BaseException:
            worker.end()
            raise
        if trouble:
            worker.end()
            if self._workers and self._is_deaf:
                self._jobs = len(self._workers)  # it never answered: the cases will show its fault
                return None
            self.gave_up = f"{self._job.device} {UNAVAILABLE}: {trouble}"
            return None
        self._workers.append(worker)
        return worker

    def _hear(self) -> None:
        busy = [worker for worker in self._workers if worker.is_busy]
        for worker in listen(busy, _TICK) if busy else ():
            message = worker.receive()
            if message is None:
                self._bury(worker, worker.death())
            elif message[0] == "done":
                _, identity, outcome, memory = message
                self.peak_memory = max(self.peak_memory, memory)
                self._conclude(worker, identity, outcome)
                if outcome.status is Status.DEVICE_LOST:
                    self._bury(worker, None)
        now = time.monotonic()
        for worker in [worker for worker in self._workers if worker.is_busy and now - worker.since > self._limit]:
            self._bury(worker, worker.hang(self._limit))

    def _bury(self, worker: Worker, outcome: Outcome | None) -> None:
        """End a worker; its current case gets the outcome, and those it had not begun run singly."""
        self._workers.remove(worker)
        worker.process.kill()
        culprit, victims = worker.current, [*worker.waiting]
        worker.end()
        if outcome is not None:
            if culprit is None and victims:
                culprit = victims.pop(0)
                worker.ran.append(culprit)
            if culprit is not None:
                self._conclude(worker, culprit, outcome)
        if worker.batch.is_search:
            if victims:  # one of the cases before it died
                self._conclude(worker, victims[-1], Outcome(Status.MISSING))
            return
        self._queue.extendleft(Batch((identity,)) for identity in reversed(victims))
        self._deaths += 1
        if self._deaths >= _MOST_DEATHS:
            self.gave_up = f"given up after {self._deaths} crashes, hangs and lost devices"

    def _conclude(self, worker: Worker, identity: str, outcome: Outcome) -> None:
        """Settle a case, or let it run once more."""
        if worker.batch.is_search and identity != worker.batch.ids[-1]:
            return
        more = self._tries.hear(identity, outcome, worker.ran)
        if more is not None and (more.is_search or self._is_eager):
            self._queue.appendleft(more)  # of a search: the next case should not run after the same culprit
        elif more is not None:
            self._queue.append(more)

    def _keep(self, verdict: Verdict) -> None:
        self._verdicts[verdict.id] = verdict
        self._on_verdict(verdict)


def _missing(planned: Planned, outcome: Outcome) -> Verdict:
    if planned.standing in {Standing.EXPECTED, Standing.STALE}:
        return settle(planned, outcome)
    return Verdict(planned.id, replace(outcome, status=Status.UNSUPPORTED), counts=False)


def _batches(plan: Sequence[Planned], most: int) -> list[Batch]:
    """Cut a plan into batches of cases that are likely to share compiled programs, so that one worker compiles each."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for planned in plan:
        parts = planned.id.split("/")
        kin = (parts[0], parts[1], *parts[3:5]) if parts[0] == "primitives" else (parts[0], parts[1])
        groups.setdefault(kin, []).append(planned.id)
    return [Batch(tuple(ids[at : at + most])) for ids in groups.values() for at in range(0, len(ids), most)]
