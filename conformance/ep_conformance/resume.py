"""Continue a run that ended early: no case that has a verdict runs again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ep_conformance import SUITE
from ep_conformance.record import verdict_of
from ep_conformance.report import SCHEMA, Subject
from ep_conformance.verdict import Status

if TYPE_CHECKING:
    from pathlib import Path

    from ep_conformance.verdict import Verdict

__all__ = ["ResumeError", "read_verdicts"]


class ResumeError(Exception):
    """The report cannot be continued; the message says what differs and what to do."""


def read_verdicts(path: Path, subject: Subject, profile: str, seed: int) -> dict[str, Verdict]:
    """Return the verdicts of a JSON report by id, less the missing ones: those cases are to run.

    Raises ResumeError if there is no such report, or if it is of another suite, provider, version, device, profile or seed.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        given = {name: table[name] for name in ("schema", "suite", "seed", "profile", "provider", "device")}
        verdicts = [verdict_of(case) for case in table["cases"]] if given["schema"] == SCHEMA else []
    except OSError as error:
        message = f"--resume: {path} cannot be read ({error.strerror}); leave the option out to begin anew"
        raise ResumeError(message) from None
    except (ValueError, KeyError, TypeError) as error:
        message = f"--resume: {path} is no report of ep-conformance run --json ({error!r}); leave the option out"
        raise ResumeError(message) from None
    needed: dict[str, Any] = {"schema": SCHEMA, "suite": SUITE, "seed": seed, "profile": profile}
    needed |= {"provider": {"name": subject.provider, "version": subject.version}}
    needed |= {"device": json.loads(json.dumps(subject.device))}
    for name, value in needed.items():
        if given[name] != value:
            before, now = _differing(given[name], value)
            message = (
                f"--resume: {path} is of {name} {before}, this run of {now}; "
                "run as before, --jobs included, or leave the option out"
            )
            raise ResumeError(message)
    return {verdict.id: verdict for verdict in verdicts if verdict.status is not Status.MISSING}


def _differing(given: Any, needed: Any) -> tuple[Any, Any]:
    """Return two values, of two mappings only the entries that differ."""
    if not (isinstance(given, dict) and isinstance(needed, dict)):
        return given, needed
    names = [name for name in given | needed if given.get(name) != needed.get(name)]
    before, now = ({name: one[name] for name in names if name in one} for one in (given, needed))
    return before, now
