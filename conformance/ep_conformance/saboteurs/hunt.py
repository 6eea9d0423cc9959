"""Set a saboteur's case on it, and on the honest provider: the process that `hunters` starts, a name a line in, a kill out."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import ep
from ep_conformance.judge.outcome import Status
from ep_conformance.programs.search import SHRINK_SECONDS
from ep_conformance.run.orphan import end_with_parent
from ep_conformance.run.worker import Job, execute
from ep_conformance.saboteurs.table import HONEST, named

if TYPE_CHECKING:
    from ep_conformance.judge.outcome import Outcome
    from ep_conformance.saboteurs.saboteur import Saboteur

__all__ = ["Kill", "hunt"]

_PROFILE: Final = "standard"


class Kill(NamedTuple):
    """What became of a saboteur.

    status  : "fail" if its case killed it; "pass" if it survived all seeds; else what the case came to in place of a verdict
    seeds   : how many it took, 0 if it survived
    reason  : the message of the case that failed
    alarm   : what the honest provider failed the same case for, twice; "" if it passed
    """

    name: str
    defect: str
    case: str
    status: str
    seeds: int
    seconds: float
    reason: str
    alarm: str = ""

    @property
    def is_dead(self) -> bool:
        """True if the case failed because of a claim that did not hold, which a broken saboteur's traceback is not."""
        return self.status == Status.FAIL and ".py:" not in self.reason


def hunt(saboteur: Saboteur, seeds: int) -> Kill:
    """Run a saboteur's case as the standard run does, with one seed after the other until it fails.

    The saboteur's package and the honest provider's are installed.
    """
    begin = time.perf_counter()
    honest = _outcome(HONEST.name, saboteur.killed_by, 0)
    if honest.status is not Status.PASS:  # once more, as a run does: a case about time may fail on a busy machine
        honest = _outcome(HONEST.name, saboteur.killed_by, 0)
    alarm = "" if honest.status is Status.PASS else honest.reason or str(honest.status)
    outcome, seed = honest, 0
    for seed in range(seeds):
        outcome = _outcome(saboteur.name, saboteur.killed_by, seed)
        if outcome.status is not Status.PASS:
            break
    needed = 0 if outcome.status is Status.PASS else seed + 1
    seconds = round(time.perf_counter() - begin, 3)
    name, _, case = saboteur
    return Kill(name, saboteur.defect, case, str(outcome.status), needed, seconds, outcome.reason, alarm)


def _outcome(provider: str, case: str, seed: int) -> Outcome:
    device = ep.device(f"{provider}:0")
    return execute(device, case, Job(device.name, _PROFILE, None, seed, None, Path()))


def _serve(seeds: int) -> None:
    """Answer each name with its kill, in JSON; what anybody else prints goes to the error stream."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        kill = hunt(named(line.strip()), seeds)
        answers.write(json.dumps(kill._asdict()) + "\n")
        answers.flush()


if __name__ == "__main__":
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends us
    faulthandler.enable()
    SHRINK_SECONDS[_PROFILE] = 0.0  # nobody reads the program
    _serve(int(sys.argv[1]))
