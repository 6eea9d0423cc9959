"""What can be said of a case: the outcome of running it, and the verdict after its standing in the plan is considered."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_conformance.waivers import Waiver

__all__ = [
    "ATTESTATIONS",
    "CLAIMABLE",
    "DEATHS",
    "FAILING",
    "FIRST_FAILURE",
    "UNAVAILABLE",
    "UNSUPPORTED_CLAIM",
    "First",
    "Outcome",
    "Planned",
    "Standing",
    "Status",
    "Verdict",
    "settle",
]


class Status(enum.StrEnum):
    """The closed set of verdicts."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    MISSING = "missing"
    CRASH = "crash"
    HANG = "hang"
    DEVICE_LOST = "device-lost"
    UNEXPECTED_PASS = "unexpected-pass"  # noqa: S105 - a verdict, not a password
    MISTRUSTED = "mistrusted"
    FLAKY = "flaky"
    NEW = "new"

    @property
    def key(self) -> str:
        """The name in the report's summary."""
        return self.value.replace("-", "_")


DEATHS: Final = frozenset({Status.CRASH, Status.HANG, Status.DEVICE_LOST})
"""What a worker process does not survive."""

FAILING: Final = frozenset(Status) - {Status.PASS, Status.UNSUPPORTED, Status.NEW}
"""What makes a run fail."""


UNSUPPORTED_CLAIM: Final = "claimed, but unsupported"
"""How the reason of a failure begins that is no wrong result."""


ATTESTATIONS: Final = ("no", "attested", "native")
"""What vouches for a result, from nothing to most."""

CLAIMABLE: Final = f"not claimed, but accepted: {Status.PASS}"
"""How the reason of a notice begins whose case passed."""

UNAVAILABLE: Final = "does not answer a health probe in a new process"
"""What the reason of a missing case says whose device was not there."""

FIRST_FAILURE: Final = "not run: --fail-fast ended the run at its first failure"
"""Why a case did not run whose run was to end with the first failure."""


class Standing(enum.StrEnum):
    """Why a case is in the plan.

    EXPECTED   : claimed, or mandatory: it must give a verdict, and pass
    UNCLAIMED  : accepted by the provider without a claim: it runs and gives a notice
    REFUSED    : neither claimed nor accepted, or left out by --claimed-only: it does not run
    STALE      : a claim whose pattern matches nothing that the suite has, or a waiver that waives nothing or has expired
    NEW        : claimed by a pattern, but newer than the suite that the claims name: it runs and never counts
    """

    EXPECTED = "expected"
    UNCLAIMED = "unclaimed"
    REFUSED = "refused"
    STALE = "stale"
    NEW = "new"


@dataclass(frozen=True)
class Planned:
    """A case of the plan.

    reason  : why it does not run
    waiver  : what the provider says of its failing, if that counts for this device
    """

    id: str
    standing: Standing
    reason: str = ""
    waiver: Waiver | None = None

    @property
    def runs(self) -> bool:
        """True unless its verdict is known from its standing."""
        return self.standing not in {Standing.REFUSED, Standing.STALE}

    def suits(self, verdict: Verdict) -> bool:
        """Say whether a verdict of an earlier run was given to this case, running, with this standing and waived alike."""
        has_run = verdict.notice or verdict.outcome.seconds > 0 or self.standing is not Standing.UNCLAIMED
        again = settle(self, verdict.outcome)
        given, now = ((each.counts, each.status, each.waiver is None) for each in (verdict, again))
        return has_run and given == now


@dataclass(frozen=True)
class Outcome:
    """What running a case showed, whatever its standing.

    margin    : largest error over its bound, None where the accuracy is exact
    attested  : "no", "attested" (device, implementation and provider match) or "native" (driver calls counted, too)
    degraded  : the abilities that a default of EP served in place of the provider
    error     : the error of `margin` in ulps of the output
    at        : the operands that made it, as text
    bias      : |mean error| over its limit, None but for cases with summands
    variance  : the mean square of the errors over its limit, None but for cases with summands
    details   : what a failure knows beside its reason, for a replay file; nothing that JSON lacks
    """

    status: Status
    reason: str = ""
    margin: float | None = None
    attested: str = "no"
    degraded: tuple[str, ...] = ()
    seconds: float = 0.0
    error: float | None = None
    at: str = ""
    bias: float | None = None
    variance: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


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
    first   : what the first try showed, None of a case that ran once
    waiver  : what waives the failure, None if nothing does
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
    """Return the verdict on a planned case; settling an outcome of a verdict again gives what holds today.

    Claimed and unsupported is a failure, unclaimed and working a notice, and new never counts. A failure is waived by a
    waiver of its status alone.
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
        return Verdict(planned.id, replace(outcome, status=Status.NEW, reason=said), counts=False)
    if outcome.status is Status.UNSUPPORTED:
        return Verdict(planned.id, outcome, counts=False)
    advice = "claim it" if outcome.status is Status.PASS else "refuse it in accepts, or repair it"
    reason = f"not claimed, but accepted: {said}; {advice}"
    return Verdict(planned.id, replace(outcome, status=Status.UNSUPPORTED, reason=reason), counts=False, notice=True)


def _expected(planned: Planned, outcome: Outcome) -> Verdict:
    """Return the verdict on a case of the expected set, its waiver considered."""
    waiver = planned.waiver
    if waiver is None or outcome.status in {Status.MISSING, Status.NEW}:
        return Verdict(planned.id, outcome, counts=True)
    if outcome.status is waiver.status:
        return Verdict(planned.id, outcome, counts=True, waiver=waiver)
    if outcome.status is Status.PASS:
        reason = f"it passes, and is waived: {waiver}; remove {waiver.cases!r} from the waivers, or narrow it"
        return Verdict(planned.id, replace(outcome, status=Status.UNEXPECTED_PASS, reason=reason), counts=True)
    advice = f"{waiver.cases!r} waives {waiver.status} alone"
    reason = f"{outcome.reason}; {advice}" if outcome.reason else advice
    return Verdict(planned.id, replace(outcome, reason=reason), counts=True)
