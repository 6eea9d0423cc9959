"""The suite's cases as pytest's tests: one item a case, run in the suite's own worker processes, batch by batch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import ep
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.globs import joined, require_one_run
from ep_conformance.plan.planned import Standing
from ep_conformance.run.runner import HANG_SECONDS, Runner
from ep_conformance.run.worker import Job
from ep_conformance.run.workers import Worker, Workplace, ask

if TYPE_CHECKING:
    from ep_conformance.plan.planned import Planned
    from ep_conformance.plan.survey import Survey
    from ep_conformance.run.verdict import Verdict

__all__ = ["CaseFailure", "CaseItem", "Suite"]

_FIRST_BATCH: Final = 8
_LARGEST_BATCH: Final = 256
_SHARED_PROFILES: Final = ("quick", "standard")


class CaseFailure(Exception):  # noqa: N818 - pytest shows it as the verdict; it is no error of the suite
    """A verdict that fails; the message is all there is to say."""


class Suite(pytest.Collector):
    """The cases of one device; it runs them in batches that grow, so that the first verdict comes soon.

    heading : one line for the user: what is judged, what is left out
    """

    heading: str

    def collect(self) -> list[CaseItem]:
        """Return a test for each case but those that are neither claimed nor accepted.

        Raises UsageError if the device cannot be opened.
        """
        option = self.config.getoption
        provider, profile = option("ep_provider"), option("ep_profile")
        if provider not in ep.providers():
            message = f"--ep-provider: unknown provider {provider!r}; known are {', '.join(ep.providers())}"
            raise pytest.UsageError(message)
        folder = Workplace()
        self.config.add_cleanup(folder.cleanup)
        name, log = f"{provider}:{option('ep_device')}", Path(folder.name) / "worker.log"
        pattern = joined(filter(None, [option("ep_filter")]))
        try:
            require_one_run(pattern)
        except ValueError as error:
            message = f"--ep-filter {error}"
            raise pytest.UsageError(message) from None
        self._job = Job(name, profile, pattern, option("ep_seed"), None, log)
        self._verdicts: dict[str, Verdict] = {}
        self._size = _FIRST_BATCH
        found = self._survey()
        shares = found.is_on_host and profile in _SHARED_PROFILES
        self._jobs = option("ep_jobs") or ((os.cpu_count() or 1) if shares else 1)
        running = [planned for planned in found.plan if planned.runs or planned.standing is Standing.STALE]
        left = len(found.plan) - len(running)
        self.heading = f"ep-conformance: {name} ({found.subject.device['model']}), profile {profile}: {len(running)} cases; {left} that nobody claims or accepts are left out"
        return [CaseItem.from_parent(self, name=planned.id, planned=planned) for planned in running]

    def _survey(self) -> Survey:
        worker = Worker(self._job)
        try:
            found: Survey = ask(worker, "survey", HANG_SECONDS[self._job.profile])
        except ep.UnavailableError as error:
            message = f"--ep-provider: {error}"
            raise pytest.UsageError(message) from None
        finally:
            worker.end()
        return found

    def verdict(self, item: CaseItem) -> Verdict:
        """Return the verdict on a case, running it together with the next selected cases."""
        if item.name not in self._verdicts:
            mine = [each for each in self.session.items if isinstance(each, CaseItem) and each.parent is self]
            at = mine.index(item)
            batch = [each.planned for each in mine[at : at + self._size]]
            self._size = min(2 * self._size, _LARGEST_BATCH)
            runner = Runner(batch, self._job, self._jobs, HANG_SECONDS[self._job.profile], lambda _: None)
            # A worker that Runner starts by itself must pass a health probe first, and the cases are to say what is wrong.
            runner.run(Worker(self._job))
            self._verdicts |= {verdict.id: verdict for verdict in runner.verdicts()}
        return self._verdicts[item.name]


class CaseItem(pytest.Item):
    """One case; its name is the case's id.

    ep_seconds : how long the case took, None before it ran
    """

    ep_seconds: float | None = None

    def __init__(self, *, planned: Planned, **given: Any) -> None:
        super().__init__(**given)
        self.planned = planned
        self.add_marker("ep_conformance")

    def runtest(self) -> None:
        """Report the verdict to pytest: a waived failure is expected, a verdict that does not count is skipped."""
        assert isinstance(self.parent, Suite)
        verdict = self.parent.verdict(self)
        self.ep_seconds = verdict.outcome.seconds
        if verdict.waiver is not None:
            pytest.xfail(f"waived: {verdict.waiver}: {verdict.outcome.reason}")
        if verdict.is_failure:
            raise CaseFailure(f"{verdict.status}: {verdict.outcome.reason}")  # noqa: EM102, TRY003 - it is the verdict
        if verdict.status is not Status.PASS:
            pytest.skip(f"{verdict.status}: {verdict.outcome.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the verdict alone: a traceback would show the suite, and not the provider."""
        if isinstance(excinfo.value, CaseFailure):
            return f"{excinfo.value}\nep-conformance explain {self.name}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """Return where the case stands: in the suite, under its id."""
        return "ep-conformance", None, self.name
