"""A Verdict is a case's entry in the report: its outcome, considered with its standing in the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ep_conformance.judge.outcome import FAILING, Outcome, Status
from ep_conformance.plan.planned import Standing

if TYPE_CHECKING:
    from ep_conformance.plan.planned import Planned
    from ep_conformance.plan.waiver import Waiver

__all__ = [
    "CLAIMABLE",
    "FIRST_FAILURE",
    "UNAVAILABLE",
    "UNSUPPORTED_CLAIM",
    "First",
    "Verdict",
    "settle",
    "suits",
]

UNSUPPORTED_CLAIM: Final = "claimed, but unsupported"
"""How the reason of a failure begins that is no wrong result."""


CLAIMABLE: Final = f"not claimed, but accepted: {Status.PASS}"
"""How the reason of a notice begins whose case passed."""

NEWER: Final = "newer than the suite that claims.toml names, so it does not count"
"""How the reason of a notice begins whose case is new, and does not pass."""

UNAVAILABLE: Final = "does not answer a health probe in a new process"
"""What the reason of a missing case says whose device was not there."""

FIRST_FAILURE: Final = "not run: --fail-fast ended the run at its first failure"
"""Why a case did not run whose run was to end with the first failure."""


@dataclass(frozen=True)
class First:
    """What the first try of a case showed that ran twice."""

    status: Status
    reason: str


@dataclass(frozen=True)
class Verdict:
    """An outcome as the report says it.

    counts  : True for a case of the expected set
    notice  : True for a surprise that a vendor should read
    first   : the outcome of the first try, None of a case that ran once
    waiver  : the waiver of the failure, None without one
    replay  : the file that runs it again, relative to the report's folder; None if there is none
    """

    id: str
    outcome: Outcome
    counts: bool
    notice: bool = False
    first: First | None = None
    waiver: Waiver | None = None
    replay: str | None = None

    @property
    def status(self) -> Status:
        """The status that the report gives."""
        return self.outcome.status

    @property
    def is_failure(self) -> bool:
        """True if the run fails because of it."""
        return self.counts and self.status in FAILING and self.waiver is None

    @property
    def is_claimable(self) -> bool:
        """True for a notice whose case passed: a claim is all that it lacks."""
        return self.notice and self.outcome.reason.startswith(CLAIMABLE)


def settle(planned: Planned, outcome: Outcome) -> Verdict:
    """Return the verdict on a planned case; settling an earlier verdict's outcome gives the verdict of today.

    Claimed and unsupported is a failure, unclaimed and working a notice. New never counts, and is a notice if it fails. A
    failure is waived by a waiver of its status alone.
    """
    if outcome.status is Status.UNEXPECTED_PASS:
        outcome = replace(outcome, status=Status.PASS, reason="")
    if planned.standing is Standing.STALE:
        return Verdict(planned.id, outcome, counts=True)
    said = f"{outcome.status}: {outcome.reason}" if outcome.reason else str(outcome.status)
    if planned.standing is Standing.EXPECTED:
        if outcome.status is Status.UNSUPPORTED:
            outcome = replace(outcome, status=Status.FAIL, reason=f"{UNSUPPORTED_CLAIM}: {outcome.reason}")
        return _expected(planned, outcome)
    if planned.standing is Standing.NEW:
        fails = outcome.status in FAILING - {Status.MISSING}
        said = f"{NEWER}: {said}; repair it, and raise suite in claims.toml" if fails else said
        return Verdict(planned.id, replace(outcome, status=Status.NEW, reason=said), counts=False, notice=fails)
    if outcome.status is Status.UNSUPPORTED:
        return Verdict(planned.id, outcome, counts=False)
    advice = "claim it" if outcome.status is Status.PASS else "refuse it in accepts, or repair it"
    reason = f"not claimed, but accepted: {said}; {advice}"
    return Verdict(planned.id, replace(outcome, status=Status.UNSUPPORTED, reason=reason), counts=False, notice=True)


def suits(planned: Planned, verdict: Verdict) -> bool:
    """Say whether a verdict of an earlier run was given to a case of the plan, running, with its standing and waived alike."""
    has_run = verdict.notice or verdict.outcome.seconds > 0 or planned.standing is not Standing.UNCLAIMED
    again = settle(planned, verdict.outcome)
    given, now = ((each.counts, each.status, each.waiver is None) for each in (verdict, again))
    return has_run and given == now


def _expected(planned: Planned, outcome: Outcome) -> Verdict:
    """Return the verdict on a case of the expected set, its waiver considered."""
    waiver = planned.waiver
    if waiver is None or outcome.status in {Status.MISSING, Status.NEW}:
        return Verdict(planned.id, outcome, counts=True)
    waiver = next((each for each in (waiver, *planned.others) if each.status is outcome.status), waiver)
    if outcome.status is waiver.status:
        return Verdict(planned.id, outcome, counts=True, waiver=waiver)
    if outcome.status is Status.PASS:
        reason = f"it passes, and is waived: {waiver}; remove {waiver.cases!r} from the waivers, or narrow it"
        return Verdict(planned.id, replace(outcome, status=Status.UNEXPECTED_PASS, reason=reason), counts=True)
    advice = f"{waiver.cases!r} waives {waiver.status} alone"
    reason = f"{outcome.reason}; {advice}" if outcome.reason else advice
    return Verdict(planned.id, replace(outcome, reason=reason), counts=True)
