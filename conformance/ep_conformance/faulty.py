"""Run one function of `faults` in a process of its own, because a device that fails may not work on in this one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ep_conformance.process import run_alone
from ep_conformance.trial import CaseError

if TYPE_CHECKING:
    from ep_conformance.trial import Trial

__all__ = ["run_faulty"]


def run_faulty(trial: Trial, what: str, *words: str, status: int = 0) -> dict[str, Any]:
    """Return what a function of `ep_conformance.faults` shows of the trial's device.

    status  : the exit code that the process gives itself and must have

    "warnings" are those that the process said at its end of work that failed. Fails the case for another exit code, or
    for a traceback.
    """
    program = f"""
import json
from ep_conformance import faults
print(json.dumps(faults.{what}(device, stream, *{words!r})), flush=True)
raise SystemExit({status})
"""
    printed, said = run_alone(trial, program, status=status, EP_EXIT_SECONDS="5")
    if "Traceback" in said:
        message = f"a process of its own ended with a traceback: {said[-1000:]}"
        raise CaseError(message)
    shown: dict[str, Any] = json.loads(printed.splitlines()[-1])
    lines = (line.partition("RuntimeWarning: ")[2] for line in said.splitlines())
    return {**shown, "warnings": [line for line in lines if "nobody waited for it" in line]}
