"""Climb the bring-up ladder: run rung after rung until one fails, and name the function to write or mend for it."""

from __future__ import annotations

import enum
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import ep
from ep_conformance.judge.outcome import DEATHS
from ep_conformance.ladder.advice import Step, first_steps, open_steps
from ep_conformance.ladder.arrival import STEPS, Arrival, arrive
from ep_conformance.ladder.breadth import survey_breadth
from ep_conformance.ladder.culprit import find_culprit
from ep_conformance.ladder.rungs import CLAIMS, LOADING, RUNGS, Rung, area_order, functions_of, rung_of
from ep_conformance.plan.planned import Standing
from ep_conformance.run.runner import HANG_SECONDS, Runner
from ep_conformance.run.verdict import UNSUPPORTED_CLAIM
from ep_conformance.run.worker import Job
from ep_conformance.run.workers import Worker, Workplace, ask
from ep_conformance.runtime import runtime_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ep_conformance.ladder.contract import Function
    from ep_conformance.plan.planned import Planned
    from ep_conformance.plan.survey import Survey
    from ep_conformance.run.verdict import Verdict

    OnPlan = Callable[[str, Sequence[str], int], None]

__all__ = ["Climb", "Landing", "State", "climb"]

_PROFILE: Final = "quick"
_RUNTIME: Final = "runtime/*"
_SHARE: Final = 64
"""The number of cases that justifies starting a worker."""
_ENOUGH: Final = 8
_MOST_FUNCTIONS: Final = 2


class State(enum.StrEnum):
    """What became of a rung."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Landing:
    """One rung after it was tried.

    state    : open: all that is expected holds, and there is more to reach
    cases    : how many ran
    failing  : failing verdicts, basic ones first; rung 0 may fail without any
    step     : what to do next on it
    """

    rung: Rung
    state: State
    cases: int = 0
    seconds: float = 0.0
    failing: tuple[Verdict, ...] = ()
    step: Step = Step()  # noqa: RUF009 - a tuple, which is immutable


@dataclass
class Climb:
    """A ladder as far as it was climbed; the last landing fails, or all rungs are there."""

    device: str
    arrival: Arrival
    landings: list[Landing] = field(default_factory=list)

    @property
    def failed(self) -> Landing | None:
        """The rung that fails first, None if none does."""
        return next((landing for landing in self.landings if landing.state is State.FAILS), None)

    @property
    def next(self) -> Landing | None:
        """The rung to work on: the one that fails, else the first that is open."""
        return self.failed or next((landing for landing in self.landings if landing.state is State.OPEN), None)

    @property
    def cases(self) -> int:
        """How many cases ran."""
        return sum(landing.cases for landing in self.landings)


class _Means(NamedTuple):
    """The means to run cases: the job of the workers, their number, the seconds that a case may take."""

    job: Job
    jobs: int
    limit: float


class _Enough(Exception):  # noqa: N818 - no error: the rung fails, and further failures would add nothing
    """Enough was seen of a failing rung."""


def climb(name: str, index: int, limit: float, on_plan: OnPlan, hear: Callable[[Landing], None]) -> Climb:
    """Return a provider's ladder, climbed up to the first rung that fails.

    limit    : seconds a case may take
    on_plan  : called before cases run, with their kind in words, their ids and the number of workers
    hear     : called with each rung after it was tried

    Raises UnavailableError if the hardware is not on this machine, or the provider is switched off.
    """
    arrival = arrive(name, index)
    if arrival.absent:
        raise ep.UnavailableError(arrival.absent)
    ladder = Climb(f"{name}:{index}", arrival)
    with Workplace() as folder:
        job = Job(ladder.device, _PROFILE, _RUNTIME, 0, None, Path(folder) / "worker.log")
        for landing in _landings(arrival, job, limit, on_plan):
            ladder.landings.append(landing)
            hear(landing)
            if landing.state is State.FAILS:
                break
    return ladder


def _landings(arrival: Arrival, job: Job, limit: float, on_plan: OnPlan) -> Iterator[Landing]:
    """Yield one rung after the other, as long as the caller asks for the next; a failing rung is the last."""
    found = _not_loaded(arrival) if arrival.step else _survey(job, arrival)
    if isinstance(found, Step):
        yield Landing(LOADING, State.FAILS, step=found)
        return
    means = _Means(job, (os.cpu_count() or 1) if found.is_on_host else 1, limit)
    plan, steps = _expected(found), first_steps(arrival)
    on_plan("of the runtime", [planned.id for planned in plan], means.jobs)
    for rung in RUNGS[: CLAIMS.number]:
        yield _land(rung, plan, means, arrival, steps.get(rung, Step()))
    # Listing the whole suite takes seconds, and is not worth them while copies fail.
    found = _survey(replace(job, pattern=None), arrival)
    if isinstance(found, Step):
        yield Landing(CLAIMS, State.FAILS, step=found)
        return
    plan = [planned for planned in _expected(found) if _rung(planned).number >= CLAIMS.number]
    steps |= open_steps(arrival, found.plan, survey_breadth(found.plan))
    on_plan("of what is claimed, and of how the device lives with others", [planned.id for planned in plan], means.jobs)
    for rung in RUNGS[CLAIMS.number :]:
        yield _land(rung, plan, means, arrival, steps.get(rung, Step()))


def _expected(found: Survey) -> list[Planned]:
    return [planned for planned in found.plan if planned.standing in {Standing.EXPECTED, Standing.STALE}]


def _land(rung: Rung, plan: Sequence[Planned], means: _Means, arrival: Arrival, beyond: Step) -> Landing:
    """Try a rung; `beyond` is the next step once all expected cases pass."""
    begin = time.monotonic()
    here = sorted((p for p in plan if _rung(p) is rung), key=lambda planned: area_order(planned.id))
    failing = _run(here, means)
    step = _mend(failing, arrival) if failing else beyond
    state = State.FAILS if failing else State.OPEN if step != Step() else State.HOLDS
    return Landing(rung, state, len(here), time.monotonic() - begin, failing, step)


def _survey(job: Job, arrival: Arrival) -> Survey | Step:
    """Return the survey of a device, or the step that is needed before it can be made."""
    worker = Worker(job)
    try:
        found: Survey = ask(worker, "survey", HANG_SECONDS[job.profile])
    except ep.UnavailableError as error:
        culprit = find_culprit([str(error)], Path(arrival.folder))
        return Step(f"the device could not be surveyed: {error}", (culprit,) if culprit else ())
    finally:
        worker.end()
    return found


def _rung(planned: Planned) -> Rung:
    case = runtime_cases().get(planned.id)
    return CLAIMS if case is None else rung_of(case)


def _run(plan: Sequence[Planned], means: _Means) -> tuple[Verdict, ...]:
    """Return the failures of a plan, of which a few suffice."""
    failing: list[Verdict] = []

    def hear(verdict: Verdict) -> None:
        if verdict.is_failure:
            failing.append(verdict)
            if len(failing) >= _ENOUGH or verdict.status in DEATHS:
                raise _Enough

    if not plan:
        return ()
    jobs = min(means.jobs, 1 + len(plan) // _SHARE)
    runner = Runner(plan, means.job, jobs, means.limit, hear)
    try:
        # A worker that Runner starts by itself must pass a health probe, which a provider without copies cannot.
        runner.run(Worker(means.job))
    except _Enough:
        return tuple(sorted(failing, key=lambda verdict: area_order(verdict.id)))
    return tuple(verdict for verdict in runner.verdicts() if verdict.is_failure)


def _not_loaded(arrival: Arrival) -> Step:
    """Return the step for a provider that failed before it had devices."""
    what = f"not so yet: {STEPS[arrival.step]}; {arrival.reason}"
    if arrival.missing:
        return Step(what, tuple(arrival.missing))
    culprit = find_culprit([arrival.traceback], Path(arrival.folder)) if arrival.folder else None
    if culprit is not None:
        return Step(what, (culprit,))
    likely = {"probe": "Provider.probe", "device": "Device.stream", "devices": "Provider.devices"}.get(arrival.step)
    return Step(what, (arrival.function(likely),) if likely else ())


def _mend(failing: Sequence[Verdict], arrival: Arrival) -> Step:
    """Return the step for failures: to mend a function in their tracebacks, else one that the first case is about."""
    first = failing[0].id
    command = f"ep-conformance explain {first}"
    culprit = find_culprit([verdict.outcome.reason for verdict in failing], Path(arrival.folder))
    if culprit is not None:
        return Step(functions=(culprit,), command=command)
    if first.startswith("primitives/"):
        return Step(functions=_kernels(failing[0], arrival), command=command)
    candidates = [arrival.function(contract) for contract in functions_of(first)]
    there = [function for function in candidates if function.is_there]
    return Step(functions=tuple((there or candidates)[:_MOST_FUNCTIONS]), command=command)


def _kernels(verdict: Verdict, arrival: Arrival) -> tuple[Function, ...]:
    """Return the functions to mend for a failing case of a cell: its kernel's, or an `accepts` that refuses it."""
    is_refused = verdict.outcome.reason.startswith(UNSUPPORTED_CLAIM)
    asked = arrival.function("Implementation.accepts" if is_refused else "Kernel.launch")
    rows = arrival.rows.get(verdict.id.split("/")[1], {})
    if not rows:
        return (arrival.function("Provider.implementations"), asked)
    form = "{}.accepts" if is_refused else "launch of what {}.create returns"
    return tuple(replace(asked, name=form.format(kind), place=place, is_there=True) for kind, place in rows.items())
