"""Run a plan: batches to persistent workers, one verdict for each case, whatever the cases do to the process."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.verdict import DEATHS, FAILING, First, Outcome, Planned, Standing, Status, Verdict, settle
from ep_conformance.workers import Worker, ask, listen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_conformance.worker import Job

__all__ = ["HANG_SECONDS", "Runner"]

HANG_SECONDS: Final = {"quick": 30.0, "standard": 60.0, "large": 600.0, "exhaustive": 3600.0}
"""How long a case may take before it hangs, by profile."""

_BATCH: Final = 96
_MOST_DEATHS: Final = 24
_TICK: Final = 0.25


@dataclass(frozen=True)
class _Batch:
    """Cases for one worker; `is_fresh`: the first of a new process."""

    ids: tuple[str, ...]
    is_fresh: bool = False


class Runner:
    """Gives every case of a plan a verdict, and tells the culprit of a crash from its victims.

    A case that fails, or passes and is waived, runs once more, alone: if only one of both passes, it is flaky. After a crash, hang or lost device the
    process is ended, a new one is probed, the case that was running runs alone in a fresh process, and those that had
    not begun run singly. `on_verdict` hears each verdict once, as it is settled.
    """

    def __init__(
        self, plan: Sequence[Planned], job: Job, jobs: int, limit: float, on_verdict: Callable[[Verdict], None]
    ) -> None:
        self._plan = {planned.id: planned for planned in plan}
        self._job = job
        self._jobs = jobs
        self._limit = limit
        self._on_verdict = on_verdict
        self._verdicts: dict[str, Verdict] = {}
        self._firsts: dict[str, Outcome] = {}
        self._queue: deque[_Batch] = deque()
        self._workers: list[Worker] = []
        self._deaths = 0
        self._gave_up = ""

    def run(self, first: Worker | None = None, known: Mapping[str, Verdict] = MappingProxyType({})) -> None:
        """Run everything; KeyboardInterrupt leaves `verdicts` valid.

        first : a worker that is there already
        known : verdicts of a run that this one continues; these cases do not run again
        """
        for planned in self._plan.values():
            if not planned.runs:
                fate = Status.MISSING if planned.standing is Standing.STALE else Status.UNSUPPORTED
                self._settle(planned.id, Outcome(fate, planned.reason))
            elif planned.id in known:
                kept = known[planned.id]
                self._keep(replace(kept, waiver=planned.waiver if kept.waiver else None))
        self._queue.extend(_batches([p for p in self._plan.values() if p.runs and p.id not in self._verdicts]))
        if first is not None:
            self._workers.append(first)
        try:
            while not self._gave_up and (self._queue or any(worker.is_busy for worker in self._workers)):
                self._assign()
                self._hear()
            for worker in self._workers:
                worker.dismiss()
            self._workers.clear()
        finally:
            for worker in self._workers:
                worker.end()
            self._workers.clear()

    def verdicts(self, reason: str = "") -> tuple[Verdict, ...]:
        """Return a verdict for each case in the plan's order; those that have none are missing for a reason."""
        why = self._gave_up or reason or "the run ended without a verdict"
        missing = Outcome(Status.MISSING, why)
        return tuple(self._verdicts.get(planned.id) or _missing(planned, missing) for planned in self._plan.values())

    def _assign(self) -> None:
        for worker in [*self._workers]:
            if not worker.is_busy and self._queue:
                self._give(worker)
        while self._queue and len(self._workers) < self._jobs and not self._gave_up:
            fresh = self._start()
            if fresh is not None:
                self._give(fresh)

    def _give(self, worker: Worker) -> None:
        batch = self._queue.popleft()
        if batch.is_fresh and worker.has_run:
            self._workers.remove(worker)
            worker.dismiss()
            fresh = self._start()
            if fresh is None:
                return
            fresh.run(batch.ids)
            return
        worker.run(batch.ids)

    def _start(self) -> Worker | None:
        """Return a new worker whose device answered a probe, None after giving up because it did not."""
        worker = Worker(self._job)
        try:
            trouble = ask(worker, "probe")
        except ep.UnavailableError as error:
            trouble = str(error)
        except BaseException:
            worker.end()
            raise
        if trouble:
            worker.end()
            if self._workers and not self._deaths:
                self._jobs = len(self._workers)  # it never answered: the cases will say what is wrong with it
                return None
            self._gave_up = f"{self._job.device} does not answer a health probe in a new process: {trouble}"
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
                self._conclude(message[1], message[2])
                if message[2].status is Status.DEVICE_LOST:
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
        self._deaths += 1
        if outcome is not None:
            if culprit is None and victims:
                culprit = victims.pop(0)
            if culprit is not None:
                self._conclude(culprit, outcome)
        self._queue.extendleft(_Batch((identity,)) for identity in reversed(victims))
        if self._deaths >= _MOST_DEATHS:
            self._gave_up = f"given up after {self._deaths} crashes, hangs and lost devices"

    def _conclude(self, identity: str, outcome: Outcome) -> None:
        """Settle a case, or let it run once more, alone, if it failed for the first time."""
        first = self._firsts.get(identity)
        planned = self._plan[identity]
        is_bad = outcome.status in FAILING or outcome.status is Status.UNSUPPORTED
        # A waived case that passes once may be one that fails now and then: then "remove the waiver" is bad advice.
        is_doubtful = is_bad or planned.waiver is not None
        if first is None and planned.standing is Standing.EXPECTED and is_doubtful:
            self._firsts[identity] = outcome
            self._queue.append(_Batch((identity,), is_fresh=outcome.status in DEATHS))
            return
        if first is not None and (outcome.status is Status.PASS) != (first.status is Status.PASS):
            reason = f"passed alone, but before: {first.status}: {first.reason}"
            if first.status is Status.PASS:
                reason = f"passed, and then alone: {outcome.status}: {outcome.reason}"
            outcome = replace(outcome, status=Status.FLAKY, reason=reason)
        self._settle(identity, outcome)

    def _settle(self, identity: str, outcome: Outcome) -> None:
        first = self._firsts.get(identity)
        verdict = settle(self._plan[identity], outcome)
        self._keep(replace(verdict, first=First(first.status, first.reason) if first else None))

    def _keep(self, verdict: Verdict) -> None:
        self._verdicts[verdict.id] = verdict
        self._on_verdict(verdict)


def _missing(planned: Planned, outcome: Outcome) -> Verdict:
    if planned.standing in {Standing.EXPECTED, Standing.STALE}:
        return settle(planned, outcome)
    return Verdict(planned.id, replace(outcome, status=Status.UNSUPPORTED), counts=False)


def _batches(plan: Sequence[Planned]) -> list[_Batch]:
    """Cut a plan into batches of cases that are likely to share compiled programs, so that one worker compiles each."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for planned in plan:
        parts = planned.id.split("/")
        kin = (parts[0], parts[1], *parts[3:5]) if parts[0] == "primitives" else (parts[0], parts[1])
        groups.setdefault(kin, []).append(planned.id)
    return [_Batch(tuple(ids[at : at + _BATCH])) for ids in groups.values() for at in range(0, len(ids), _BATCH)]
