"""The last run of a device, kept in the user's cache folder: the cases that failed, and the time of each case."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ep.folders import cache_folder

from ep_conformance.judge.outcome import Status
from ep_conformance.report.report import SCHEMA, Report

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["History", "read_history", "write_history"]

_UNKNOWN_SECONDS: Final = 0.02
_START_SECONDS: Final = 2.0


@dataclass(frozen=True)
class History:
    """The last run of a device: the ids that failed, and the seconds of each case; empty if there was none."""

    failed: frozenset[str] = frozenset()
    seconds: dict[str, float] = field(default_factory=dict)
    is_known: bool = False

    def expected_seconds(self, ids: Iterable[str], jobs: int) -> float:
        """Return about how long these cases will take."""
        return _START_SECONDS + sum(self.seconds.get(identity, _UNKNOWN_SECONDS) for identity in ids) / jobs


def _path(device: str) -> Path:
    return cache_folder() / "conformance" / f"{device.replace(':', '-')}.json"


def read_history(device: str) -> History:
    """Return the history of a device, such as "cpu:0"; one that cannot be read is none."""
    try:
        table = json.loads(_path(device).read_text(encoding="utf-8"))
        if table["schema"] != SCHEMA:
            return History()
        failed = frozenset(table["failed"])
        return History(failed, {str(k): float(v) for k, v in table["took"].items()}, is_known=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return History()


def write_history(report: Report, before: History) -> None:
    """Keep the results in a report; cases that it did not run keep their earlier entries.

    A folder that cannot be written costs the history, not the run.
    """
    ended_early = report.interrupted or bool(report.unavailable)
    ran = {v.id for v in report.verdicts if not (ended_early and v.status is Status.MISSING)}
    failed = (before.failed - ran) | (ran & {v.id for v in report.failures})
    took = before.seconds | {v.id: round(v.outcome.seconds, 6) for v in report.verdicts if v.outcome.seconds}
    path = _path(report.subject.name)
    text = json.dumps({"schema": SCHEMA, "failed": sorted(failed), "took": took})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError:
        return
