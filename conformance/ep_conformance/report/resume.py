"""Continue a run that ended early, from its journal or its report: no case that has a verdict runs again."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from ep_conformance.judge.outcome import Status
from ep_conformance.report.difference import differing
from ep_conformance.report.journal import journal_of, read_journal, report_of_journal
from ep_conformance.run.record import verdict_of
from ep_conformance.untrusted import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ep_conformance.run.verdict import Verdict

__all__ = ["ResumeError", "read_verdicts"]


class ResumeError(Exception):
    """The report cannot be continued; the message says what differs and what to do."""


def read_verdicts(path: Path, heading: Mapping[str, Any]) -> dict[str, Verdict]:
    """Return the verdicts of an earlier run by id, less the missing ones: those cases are to run.

    path    : of its JSON report or its journal; while there is a journal, that alone is read: it has all that was settled
    heading : of the run that continues it, what `report.heading` returns

    Raises ResumeError if there is neither, or if they are of another run, as the headings say.
    """
    places = (journal_of(path), path, report_of_journal(path))
    source = next((place for place in places if place.exists()), path)
    try:
        given, records = _read(source)
        given.setdefault("bits_of", None)  # reports have it since suite 1.1, and this:
        given.setdefault("shard", None)
        _check(source, {name: given[name] for name in heading}, json.loads(json.dumps(heading)))
        verdicts = map(verdict_of, records)
        return {verdict.id: verdict for verdict in verdicts if verdict.status is not Status.MISSING}
    except OSError as error:
        message = f"--resume: {source} cannot be read ({error.strerror}); leave the option out to begin anew"
        raise ResumeError(message) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"--resume: {source} is no report of ep-conformance run --json ({error!r}); leave the option out"
        raise ResumeError(message) from None


def _read(source: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the heading and the records of a report or a journal, whichever it is."""
    with contextlib.suppress(ValueError):  # several JSON texts are a journal
        table = read_json(source.read_bytes())
        if "cases" in table:
            return table, table["cases"]
    return read_journal(source)


def _check(source: Path, given: Mapping[str, Any], needed: Mapping[str, Any]) -> None:
    """Raise ResumeError unless two headings are equal."""
    for name, value in needed.items():
        if given[name] != value:
            before, now = differing(given[name], value)
            message = (
                f"--resume: {source} is of {name} {before}, this run of {now}; "
                "run as before, --jobs included, or leave the option out"
            )
            raise ResumeError(message)
