"""One run from its options to its report: survey the device, run the plan, keep the results."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep.layout.cells import matches
from ep.plugin.claims import ClaimsError
from rich.text import Text

from ep_conformance.judge.agreement import require_one_class
from ep_conformance.plan.failed import FailedError, NothingFailed
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.plan.shard import ShardError
from ep_conformance.report.draft import Draft, finish
from ep_conformance.report.environment import environment
from ep_conformance.report.failures import keep_failures
from ep_conformance.report.formats import write_formats
from ep_conformance.report.history import History, read_history, write_history
from ep_conformance.report.progress import Live
from ep_conformance.report.report import Report, heading, is_special
from ep_conformance.report.resume import read_verdicts
from ep_conformance.run.runner import HANG_SECONDS, Runner
from ep_conformance.run.verdict import FIRST_FAILURE, UNSUPPORTED_CLAIM, suits
from ep_conformance.run.worker import Job
from ep_conformance.run.workers import Worker, Workplace, ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from ep_conformance.plan.shard import Shard
    from ep_conformance.plan.survey import Survey
    from ep_conformance.run.spread import Spread
    from ep_conformance.run.verdict import Verdict

__all__ = ["Options", "conduct"]

_SHARED_PROFILES: Final = ("quick", "standard")
_COUNTED: Final = frozenset({Standing.EXPECTED, Standing.STALE})
_LEAST_THREADS: Final = 3
"""Threads of a worker on the CPU, even with fewer cores: faults of shared work show only with several threads."""


@dataclass(frozen=True)
class Options:
    """What `ep-conformance run` was asked for; None leaves the choice to the device."""

    provider: str
    device: int = 0
    profile: str = "standard"
    pattern: str | None = None
    every: int = 1
    """Of each op only every Nth element type."""
    shard: Shard | None = None
    """The part of the cases that this machine does."""
    seed: int = 0
    jobs: int | None = None
    failed: bool = False
    json: Path | None = None
    html: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    hang_limit: float | None = None
    memory_limit: int | None = None
    """Bytes that all workers together may take for cases; None for the system's free memory."""
    resume: Path | None = None
    claim_all: bool = False
    """Judge every case that the provider accepts as if it were claimed."""
    claimed_only: bool = False
    """Leave out cases that the provider accepts without a claim."""
    claims: tuple[str, ...] = ()
    """Patterns of cells to judge as if they were claimed, accepted or not: of families from other packages."""
    waivers: Path | None = None
    """A file in place of the provider's own waivers.toml."""
    replays: Path | None = None
    """The folder for replay files of failing cases."""
    no_replays: bool = False
    """Write none."""
    fail_fast: bool = False
    """End the run after the first case that fails and counts."""
    bits_of: str = ""
    """The device whose bits results are compared with, such as "cpu:0"."""
    spread: Spread | None = None
    """The processes that are the ranks; None: ranks are in one process."""

    @property
    def device_name(self) -> str:
        """The device's name, such as "cpu:0"."""
        return f"{self.provider}:{self.device}"

    @property
    def choice(self) -> dict[str, Any]:
        """Which cases are chosen, as reports name it."""
        return {"pattern": self.pattern, "every": self.every, "shard": self.shard}

    @property
    def failures_folder(self) -> Path | None:
        """Where replay files go: beside the JSON report, unless a folder is given; None if there are to be none."""
        if self.no_replays:
            return None
        beside = None if self.json is None else self.json.with_name(f"{self.json.stem}-failures")
        return self.replays or beside

    @property
    def folder(self) -> Path:
        """From where the report names replay files: its own, or that of their folder."""
        return (self.json or self.failures_folder or Path("report")).absolute().parent

    @property
    def hang_seconds(self) -> float:
        """How long a case may take."""
        return HANG_SECONDS[self.profile] if self.hang_limit is None else self.hang_limit


class _FirstFailure(Exception):  # noqa: N818 - it ends a run with --fail-fast, inside this module
    """A case failed, and the run was to go no further."""


def conduct(options: Options, console: Console) -> Report:
    """Run the suite on one device and return the report, files written.

    Raises UnavailableError if the device cannot be opened, ResumeError if the report to resume is of another run, ClaimsError
    for a claim of the options that no case of the run matches, BusyError if another run writes the same report,
    ApartError if the device computes otherwise than the one whose bits are asked for, ShardError if no shard has anything to judge,
    FailedError or NothingFailed if `failed` leaves nothing to run. Ctrl-C, and
    with `fail_fast` the first failure, give a report that says it did not come to its end.
    """
    history = read_history(options.device_name)
    if options.failed:
        _require_failures(history, options.device_name)
    cores = os.cpu_count() or 1
    threads = None if "EP_CPU_THREADS" in os.environ else max(_LEAST_THREADS, cores // (options.jobs or cores))
    with contextlib.ExitStack() as ends:
        folder = ends.enter_context(Workplace())
        log = Path(folder) / "worker.log"
        waivers = options.waivers
        job = Job(
            options.device_name,
            options.profile,
            options.pattern,
            options.seed,
            threads,
            log,
            waivers,
            options.bits_of,
            options.every,
        )
        worker = Worker(job)
        try:
            found: Survey = ask(worker, "survey", options.hang_seconds)
            if found.other is not None:
                require_one_class(found.subject.device, found.other)
            # One worker a device, unless the "device" is this machine's own cores; a large case needs 16 GiB alone.
            shares = found.is_on_host and options.profile in _SHARED_PROFILES
            jobs = 1 if options.spread is not None else options.jobs or (cores if shares else 1)
            report = _run(found, options, history, console, (worker, job, jobs, ends))
        finally:
            if worker.process.is_alive():
                worker.end()
        if options.failures_folder is not None:
            tell = functools.partial(console.print, soft_wrap=True, markup=False)
            report = keep_failures(report, options.failures_folder.absolute(), job, options.folder, tell)
        if not options.claim_all:
            write_history(report, history)
        if options.json is not None:
            finish(options.json, report)  # while the journal is this run's own
    write_formats(report, options.folder, html=options.html, markdown=options.markdown, junit=options.junit)
    return report


def _run(
    found: Survey,
    options: Options,
    history: History,
    console: Console,
    means: tuple[Worker, Job, int, contextlib.ExitStack],
) -> Report:
    worker, job, jobs, ends = means
    plan = _plan(found, options, history)
    choice = options.choice | {"bits_of": found.other}
    title = heading(found.subject, options.profile, options.seed, **choice)
    known: dict[str, Verdict] = {} if options.resume is None else read_verdicts(options.resume, title)
    taken = {p.id: known[p.id] for p in plan if p.runs and p.id in known and suits(p, known[p.id])}
    left = {planned.id for planned in plan if planned.runs} - taken.keys()
    begin, started = time.monotonic(), dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    live = Live(console, len(plan))

    def report(reason: str = "the run was still going on") -> Report:
        verdicts = runner.verdicts(reason)
        return Report(
            found.subject,
            options.profile,
            options.seed,
            verdicts,
            time.monotonic() - begin,
            interrupted=bool(reason),
            jobs=jobs,
            started=started,
            environment=environment(),
            peak_memory=runner.peak_memory or None,
            **choice,
        )

    def hear(verdict: Verdict) -> None:
        # A run that looks for possible claims does not fail by abilities without a claim.
        live.hear(verdict, quietly=options.claim_all and verdict.outcome.reason.startswith(UNSUPPORTED_CLAIM))
        if draft is not None and verdict.id in left:
            draft.hear(verdict)
        if options.fail_fast and verdict.is_failure and verdict.id in left:
            raise _FirstFailure

    make = Runner if options.spread is None else options.spread.runner
    runner = make(plan, job, jobs, options.hang_seconds, hear, memory=options.memory_limit, is_eager=options.fail_fast)
    draft = None if options.json is None or is_special(options.json) else Draft(options.json, report, live.tell)

    def work() -> None:
        _announce(console, found, plan, options, history.expected_seconds(left, jobs))
        if options.resume is not None:
            console.print(f"{len(taken)} verdicts taken over from {options.resume}", soft_wrap=True, markup=False)
        if draft is not None:
            draft.begin(title, taken.values())
        with live:
            runner.run(worker, taken)

    if draft is not None:
        ends.callback(draft.close)
    made = report(_ending(runner, work))
    _tell_rest(live, made, runner.gave_up)
    return made


def _tell_rest(live: Live, report: Report, reason: str) -> None:
    """Say once why cases did not run, unless the verdict does."""
    if reason and not report.unavailable:
        live.tell(f"the rest did not run: {reason}")


def _ending(runner: Runner, work: Callable[[], None]) -> str:
    """Do the work of a run, and return why it did not come to its end, "" if it did."""
    try:
        work()
    except KeyboardInterrupt:
        return "interrupted before it ran"
    except _FirstFailure:
        return "" if runner.is_done or runner.gave_up else FIRST_FAILURE
    return ""


def _plan(found: Survey, options: Options, history: History) -> list[Planned]:
    """Return the cases to run by the options, and the verdicts that are known without running."""
    plan = [planned for planned in found.plan if not options.failed or planned.id in history.failed]
    if options.failed and not plan:
        message = f"--failed: {len(history.failed)} cases failed in the last run of {options.device_name}, and this profile and --filter choose none of them, such as {min(history.failed)}"
        raise FailedError(message)
    if options.claim_all:
        plan = [replace(p, standing=Standing.EXPECTED) if p.standing is Standing.UNCLAIMED else p for p in plan]
        plan = [replace(planned, waiver=None) for planned in plan if planned.standing is not Standing.STALE]
    plan = _claimed(plan, options.claims)
    if options.shard is not None:
        if not any(planned.standing in _COUNTED for planned in plan):
            message = f"--shard {options.shard}: no case of the whole run is expected to run; choose claimed ones with --filter, or claim some"
            raise ShardError(message)
        plan = [planned for planned in plan if options.shard.has(planned.id)]
    if options.claimed_only:
        why = "not claimed, and left out: --claimed-only"
        plan = [
            replace(p, standing=Standing.REFUSED, reason=why) if p.standing is Standing.UNCLAIMED else p for p in plan
        ]
    return plan


def _require_failures(history: History, name: str) -> None:
    if not history.is_known:
        message = f"--failed: no run of {name} is known on this machine; run the suite without it first"
        raise FailedError(message)
    if not history.failed:
        message = f"{name}: nothing failed in the last run"
        raise NothingFailed(message)


def _claimed(plan: list[Planned], patterns: tuple[str, ...]) -> list[Planned]:
    """Return the plan with every case of a cell that a pattern matches expected. Raises ClaimsError for an idle pattern."""
    cells = {
        planned.id: "/".join(planned.id.split("/")[1:5]) for planned in plan if planned.id.startswith("primitives/")
    }
    for pattern in patterns:
        if not any(matches(pattern, cell) for cell in cells.values()):
            message = f"--claim {pattern!r} matches no cell of this run; write family/op/dtypes/layout, as `ep-conformance list` does"
            raise ClaimsError(message)
    claimed = {cell for cell in cells.values() if any(matches(pattern, cell) for pattern in patterns)}
    return [
        replace(planned, standing=Standing.EXPECTED, reason="") if cells.get(planned.id) in claimed else planned
        for planned in plan
    ]


def _announce(console: Console, found: Survey, plan: list[Planned], options: Options, seconds: float) -> None:
    """Announce the cases that will run, and about how long they take."""
    counted = sum(planned.standing in _COUNTED for planned in plan)
    model = found.subject.device["model"]
    console.print(
        f"{found.subject.name} ({model}), profile {options.profile}, seed {options.seed}: {counted} expected of "
        f"{len(plan)} cases, about {max(1, round(seconds))} s",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )  # fmt: skip - how it is printed is one thought
    for waiver in found.expiring:
        text = f"waiver of {waiver.cases!r} ends on {waiver.expires}: {waiver}"
        console.print(Text.assemble(("notice      ", "yellow"), f" {text}"), soft_wrap=True)
