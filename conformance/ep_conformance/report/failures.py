"""Leave a replay file for each failing case of a run, once the run is over."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self

import ep
from ep_conformance.judge.agreement import DIFFERENT
from ep_conformance.judge.outcome import DEATHS, FAILING, Status
from ep_conformance.replay.file import Replay, file_name, write_replay
from ep_conformance.run.workers import Worker, ask, await_answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ep_conformance.report.report import Report
    from ep_conformance.run.verdict import Verdict
    from ep_conformance.run.worker import Job

__all__ = ["keep_failures"]

_CASE_SECONDS: Final = 30.0
_MOST_SECONDS: Final = 60.0
"""In which failing cases are looked at again; the files of later ones name the case and its seed alone."""

_MOST_FILES: Final = 1000
_NOT_RUN: Final = frozenset({Status.MISSING, Status.UNEXPECTED_PASS})
_BEHIND: Final = ", behind\n"


def keep_failures(report: Report, folder: Path, job: Job, parent: Path, tell: Callable[[str], None]) -> Report:
    """Return the report with a file in `folder` for each case that failed, those of cases that did not removed.

    parent : of the report: files are named relative to it
    tell   : shows a sentence to the user

    A case is run again in a process of its own to gather its work and data: at most a minute for all of them, and no
    more after Ctrl-C. Raises OSError if a file cannot be written.
    """
    failing = [v for v in report.verdicts if v.counts and v.status in FAILING - _NOT_RUN]
    if folder.is_dir():
        for identity in {verdict.id for verdict in report.verdicts} - {verdict.id for verdict in failing}:
            (folder / file_name(identity)).unlink(missing_ok=True)
    if not failing:
        return report
    folder.mkdir(exist_ok=True)
    files: dict[str, str] = {}
    kept = failing[:_MOST_FILES]
    less = f" of {len(failing)}" if len(failing) > len(kept) else ""
    tell(f"writing replay files of {len(kept)}{less} failures to {folder.name}; ep-conformance replay runs them again")
    with _Gatherer(job, 0.0 if report.interrupted and not report.is_cut_short else _MOST_SECONDS) as gatherer:
        for verdict in kept:
            path = folder / file_name(verdict.id)
            files[verdict.id] = path.relative_to(parent).as_posix() if path.is_relative_to(parent) else str(path)
            if verdict.replay is None or not path.exists():  # else a run that this one continues wrote it
                write_replay(path, _replay(report, verdict).as_json() | gatherer.gather(verdict))
    named = tuple(replace(verdict, replay=files.get(verdict.id)) for verdict in report.verdicts)
    return replace(report, verdicts=named)


def _replay(report: Report, verdict: Verdict) -> Replay:
    subject, outcome = report.subject, verdict.outcome
    is_program = verdict.id.startswith("runtime/program/")
    return Replay(
        case=verdict.id,
        seed=report.seed,
        profile=report.profile,
        status=str(verdict.status),
        reason=outcome.reason,
        provider={"name": subject.provider, "version": subject.version},
        device=subject.device,
        environment=report.environment,
        details=outcome.details,
        program=outcome.reason.partition(_BEHIND)[2] if is_program else "",
        bits_of=report.bits.other if report.bits is not None and outcome.bits == DIFFERENT else "",
        suite=report.suite,
    )


class _Gatherer:
    """A worker process that looks at failing cases again, and is replaced when one of them ends it."""

    def __init__(self, job: Job, seconds: float) -> None:
        self._job = job
        self._deadline = time.monotonic() + seconds
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def gather(self, verdict: Verdict) -> dict[str, Any]:
        """Return the work of a failing case as entries of its replay's JSON, as far as it is gathered in time."""
        try:
            return self._gather(verdict)
        except KeyboardInterrupt:
            self._deadline = 0.0
            self._end()
            return {}

    def _gather(self, verdict: Verdict) -> dict[str, Any]:
        if verdict.id.startswith(("runtime/", "collective/")):
            return {}
        for runs in (False,) if verdict.status in DEATHS else (True, False):
            found = self._ask(verdict.id, runs=runs)
            if found is not None:
                return {name: found.get(name) for name in ("work", "smallest")}
        return {}

    def _ask(self, identity: str, *, runs: bool) -> dict[str, Any] | None:
        """Return the findings of a worker, None if it died or there was no time."""
        if time.monotonic() > self._deadline:
            return None
        try:
            if self._worker is None:
                self._worker = Worker(self._job)
                ask(self._worker, "probe", _CASE_SECONDS)
            self._worker.send("gather", identity, runs)
            answer = await_answer(self._worker, _CASE_SECONDS, _CASE_SECONDS)
        except ep.UnavailableError:
            self._deadline = 0.0
            answer = None
        except TimeoutError:
            answer = None
        if answer is None:
            self._end()
            return None
        found: dict[str, Any] = answer[1]
        return found

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None
