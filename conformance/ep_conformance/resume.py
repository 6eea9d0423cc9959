"""Continue a run from the report of one that ended early: what passed there need not run again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ep_conformance import SUITE
from ep_conformance.report import SCHEMA, Subject
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ResumeError", "read_passes"]


class ResumeError(Exception):
    """The report cannot be continued; the message says what differs and what to do."""


def read_passes(path: Path, subject: Subject, seed: int) -> dict[str, Outcome]:
    """Return what the passing cases of a JSON report showed, by id; everything else is to run again.

    Raises ResumeError if there is no such report, or if it is of another suite, provider, version, device or seed.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        given = {"schema": table["schema"], "suite": table["suite"], "seed": table["seed"]}
        given |= {"provider": table["provider"], "device": table["device"]}
        outcomes = {case["id"]: _outcome(case) for case in table["cases"] if case["status"] == Status.PASS}
    except OSError as error:
        message = f"--resume: {path} cannot be read ({error.strerror}); leave the option out to begin anew"
        raise ResumeError(message) from None
    except (ValueError, KeyError, TypeError) as error:
        message = f"--resume: {path} is no report of ep-conformance run --json ({error!r}); leave the option out"
        raise ResumeError(message) from None
    needed: dict[str, Any] = {"schema": SCHEMA, "suite": SUITE, "seed": seed}
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
    return outcomes


def _differing(given: Any, needed: Any) -> tuple[Any, Any]:
    """Return two values, of two mappings only the entries that differ."""
    if not (isinstance(given, dict) and isinstance(needed, dict)):
        return given, needed
    names = [name for name in given | needed if given.get(name) != needed.get(name)]
    before, now = ({name: one[name] for name in names if name in one} for one in (given, needed))
    return before, now


def _outcome(case: dict[str, Any]) -> Outcome:
    return Outcome(
        Status.PASS,
        reason=case["reason"],
        margin=_number(case["margin"]),
        error=_number(case["error"]),
        at=case["at"],
        bias=_number(case["bias"]),
        attested=case["attested"],
        degraded=tuple(case["degraded"]),
        seconds=float(case["seconds"]),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
