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
            message = f"--resume: {path} is of {name} {given[name]}, this run of {value}; leave the option out"
            raise ResumeError(message)
    return outcomes


def _outcome(case: dict[str, Any]) -> Outcome:
    return Outcome(
        Status.PASS,
        reason=case["reason"],
        margin=case["margin"],
        error=case["error"],
        at=case["at"],
        attested=case["attested"],
        degraded=tuple(case["degraded"]),
        seconds=case["seconds"],
    )
