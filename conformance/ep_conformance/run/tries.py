"""Retries of a case that failed, and its verdict after them: failing, flaky, or the victim of an earlier case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ep_conformance.judge.outcome import DEATHS, FAILING, Outcome, Status
from ep_conformance.plan.planned import Standing
from ep_conformance.run.verdict import First, Verdict, settle
from ep_conformance.run.victim import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_conformance.plan.planned import Planned

__all__ = ["Batch", "Tries"]

_DOUBTS: Final = 8
"""After so many cases failed again in a new process, and none passed, retries use an existing process."""

_BEHIND: Final = 32
"""Among so many cases before a victim its culprit is looked for."""

_STEPS: Final = 64
"""Processes of a run that may be spent on looking for culprits."""


@dataclass(frozen=True)
class Batch:
    """Cases for one worker.

    is_fresh   : the first of a new process
    is_search  : only the last case is judged; the others have verdicts already, and run before it once more
    """

    ids: tuple[str, ...]
    is_fresh: bool = False
    is_search: bool = False


class Tries:
    """Receives the outcome of each case, and settles it or returns further runs that can settle it.

    A case that fails runs once more, alone: in a fresh process after a death, and after a failure, until eight have failed
    there again. If it passes alone, it runs after the cases that ran before it. If it fails again there, it is a
    victim: halving the cases before it finds the culprit. Otherwise it is flaky.
    """

    def __init__(self, plan: Mapping[str, Planned], keep: Callable[[Verdict], None]) -> None:
        self._plan = plan
        self._keep = keep
        self._firsts: dict[str, Outcome] = {}
        self._settled: set[str] = set()
        self._before: dict[str, tuple[str, ...]] = {}
        self._alone: dict[str, Outcome] = {}
        self._search: Search | None = None
        self._suspected = ""
        self._doubts = _DOUBTS
        self._steps = _STEPS
        self.culprits: set[str] = set()
        """Cases that make others fail in the same process, as far as it was found out."""

    def hear(self, identity: str, outcome: Outcome, ran: Sequence[str]) -> Batch | None:
        """Take the outcome of a case; return the next run for it, None if it is settled.

        ran : the cases that its process has run, in order, itself the last
        """
        if self._search is not None and identity == self._suspected:
            self._search.hear(outcome)
            return self._next()
        first = self._firsts.get(identity)
        if first is None:
            return self._once(identity, outcome, ran)
        is_cured = outcome.status is Status.PASS and first.status is not Status.PASS
        if is_cured:
            self._doubts = _DOUBTS
        if is_cured and first.status is not Status.HANG and self._before[identity]:
            self._alone[identity] = outcome
            return None if self._search is not None else self._next()
        if is_cured:
            outcome = _flaky(outcome, f"passed alone, but before: {first.status}: {first.reason}")
        elif first.status is Status.PASS and outcome.status is not Status.PASS:
            outcome = _flaky(outcome, f"passed, and then alone: {outcome.status}: {outcome.reason}")
        self.settle(identity, outcome)
        return None

    def settle(self, identity: str, outcome: Outcome) -> None:
        """Give a case its verdict."""
        self._settled.add(identity)
        first = self._firsts.get(identity)
        verdict = settle(self._plan[identity], outcome)
        self._keep(replace(verdict, first=First(first.status, first.reason) if first else None))

    def give_up(self, why: str) -> None:
        """Settle a case that failed and will not be tried again, by its outcomes."""
        for identity, first in self._firsts.items():
            if identity not in self._settled and first.status is not Status.PASS:
                self.settle(identity, replace(first, reason=f"{first.reason}; not tried again: {why}"))

    def _once(self, identity: str, outcome: Outcome, ran: Sequence[str]) -> Batch | None:
        planned, status = self._plan[identity], outcome.status
        is_bad = (status in FAILING and status is not Status.MISSING) or status is Status.UNSUPPORTED
        # A waived case that passes once may be one that fails now and then: then "remove the waiver" is bad advice.
        if planned.standing is not Standing.EXPECTED or not (is_bad or planned.waiver is not None):
            self.settle(identity, outcome)
            return None
        self._firsts[identity] = outcome
        before = ran[:-1]
        early = [other for other in before[:-_BEHIND] if other in self.culprits]
        self._before[identity] = (*early, *before[-_BEHIND:])
        is_fresh = status in DEATHS
        if status is Status.FAIL and self._doubts:
            self._doubts -= 1
            is_fresh = True
        return Batch((identity,), is_fresh=is_fresh)

    def _next(self) -> Batch | None:
        """Return the next run of the search, or of the next one. One at a time, because victims share culprits."""
        while self._search is not None or self._alone:
            if self._search is None:
                self._suspected = next(iter(self._alone))
                self._search = Search(self._before[self._suspected], self.culprits)
            behind = self._search.next() if self._steps else ()
            if behind:
                self._steps -= 1
                return Batch((*behind, self._suspected), is_fresh=True, is_search=True)
            self._found(self._suspected, self._search)
            self._search = None
        return None

    def _found(self, identity: str, search: Search) -> None:
        """Settle a case by the result of a search."""
        alone, first = self._alone.pop(identity), self._firsts[identity]
        if search.found is None:
            self.settle(identity, _flaky(alone, f"passed alone, but before: {first.status}: {first.reason}"))
            return
        culprits, outcome = search.found
        names = culprits[0]
        if len(culprits) == 1:
            self.culprits.update(culprits)
        else:
            names = f"{culprits[0]} ... {culprits[-1]}, {len(culprits)} cases together"
        self.settle(identity, replace(outcome, reason=f"fails after {names}, and passes alone: {outcome.reason}"))


def _flaky(outcome: Outcome, reason: str) -> Outcome:
    return replace(outcome, status=Status.FLAKY, reason=reason)
