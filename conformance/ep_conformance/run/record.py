"""A verdict as JSON: the one place that says how, for the report, the journal and the run that continues them."""

from __future__ import annotations

import math
from typing import Any, Final

from ep_conformance.judge.outcome import ATTESTATIONS, Outcome, Status
from ep_conformance.plan.waiver import brief, brief_of
from ep_conformance.run.verdict import First, Verdict
from ep_conformance.untrusted import text

__all__ = ["outcome_of", "outcome_record", "record", "verdict_of"]

_INFINITE: Final = 1e308
"""Stands for infinity, which JSON lacks; NaN is written as infinity, too."""

_MOST_SECONDS: Final = 1e9


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a JSON object, less its details; `outcome_of` gives it back."""
    return {
        "status": str(outcome.status),
        "reason": outcome.reason,
        "margin": _finite(outcome.margin),
        "error": _finite(outcome.error),
        "at": outcome.at,
        "bias": _finite(outcome.bias),
        "variance": _finite(outcome.variance),
        "bits": outcome.bits,
        "attested": outcome.attested,
        "ran": list(outcome.ran),
        "degraded": list(outcome.degraded),
        "seconds": outcome.seconds,
    }


def outcome_of(table: dict[str, Any]) -> Outcome:
    """Return the outcome of a JSON object that `outcome_record` made, with its `details` if it has them.

    Raises KeyError, TypeError or ValueError for any other.
    """
    return Outcome(
        Status(table["status"]),
        reason=text(table["reason"]),
        margin=_number(table["margin"]),
        attested=_attested(table["attested"]),
        ran=tuple(map(text, table.get("ran", ()))),
        degraded=tuple(map(text, table["degraded"])),
        seconds=_seconds(table["seconds"]),
        error=_number(table["error"]),
        at=text(table["at"]),
        bias=_number(table["bias"]),
        variance=_number(table["variance"]),
        bits=text(table.get("bits", "")),
        details=dict(table.get("details", {})),
    )


def record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a JSON object; `verdict_of` gives it back."""
    first = verdict.first
    return {
        "id": verdict.id,
        **outcome_record(verdict.outcome),
        "counts": verdict.counts,
        "notice": verdict.notice,
        "waiver": None if verdict.waiver is None else brief(verdict.waiver),
        "replay": verdict.replay,
        "first": None if first is None else {"status": str(first.status), "reason": first.reason},
    }


def verdict_of(table: dict[str, Any]) -> Verdict:
    """Return the verdict of a JSON object that `record` made.

    Raises KeyError, TypeError or ValueError for any other.
    """
    first, waiver, replay = table["first"], table["waiver"], table["replay"]
    outcome = outcome_of(table)
    return Verdict(
        text(table["id"]),
        outcome,
        counts=table["counts"] is True,
        notice=table["notice"] is True,
        first=None if first is None else First(Status(first["status"]), text(first["reason"])),
        waiver=None if waiver is None else brief_of(waiver, outcome.status),
        replay=None if replay is None else text(replay),
    )


def _finite(number: float | None) -> float | None:
    return number if number is None or math.isfinite(number) else _INFINITE


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return math.inf if number >= _INFINITE else number


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not 0 <= seconds <= _MOST_SECONDS:
        message = f"{value!r} is no number of seconds"
        raise ValueError(message)
    return seconds


def _attested(value: Any) -> str:
    if value not in ATTESTATIONS:
        message = f"attested is {value!r}, needed one of {', '.join(ATTESTATIONS)}"
        raise ValueError(message)
    return str(value)
