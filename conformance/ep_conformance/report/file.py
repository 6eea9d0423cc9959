"""Reads a report from a file, even if the run that wrote it was killed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ep_conformance.judge.outcome import Status
from ep_conformance.report.journal import journal_of, read_journal
from ep_conformance.report.report import Report, report_of
from ep_conformance.run.record import verdict_of
from ep_conformance.untrusted import read_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ReportError", "read_report"]


class ReportError(Exception):
    """There is no report; the message says why not."""


def read_report(path: Path) -> Report:
    """Return the report in a JSON file; of a run that was killed, with the further verdicts of its journal.

    Raises ReportError if the file cannot be read or is no report.
    """
    try:
        report = _report(read_json(path.read_bytes()))
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror})"
        raise ReportError(message) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path} is no report of ep-conformance run --json ({error!r}); --check says what is wrong with it"
        raise ReportError(message) from None
    return _with_journal(report, path)


def _report(table: Any) -> Report:
    """Return the report of a JSON value. Raises ValueError, KeyError, TypeError or AttributeError for what is none."""
    from ep_conformance.report.schema import problems  # noqa: PLC0415 - jsonschema is loaded only where a file is read

    wrong = next(problems(table | {"cases": []}), "")
    if wrong:
        raise ValueError(wrong)
    return report_of(table)


def _with_journal(report: Report, path: Path) -> Report:
    """Return the report with the verdicts that only the journal of its run has."""
    try:
        title, records = read_journal(journal_of(path))
        if title != json.loads(json.dumps(report.heading)):
            return report
        known = {record["id"]: verdict_of(record) for record in records}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return report
    verdicts = tuple(known.get(v.id, v) if v.status is Status.MISSING else v for v in report.verdicts)
    return replace(report, verdicts=verdicts)
