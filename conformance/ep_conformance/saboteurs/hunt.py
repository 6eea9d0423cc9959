"""Set each saboteur's case on it, seed after seed, in one process: `python -m ep_conformance.saboteurs --seeds N`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import ep
from ep_conformance.programs.search import SHRINK_SECONDS
from ep_conformance.verdict import Status
from ep_conformance.worker import Job, execute

if TYPE_CHECKING:
    from ep_conformance.saboteurs.table import Saboteur

__all__ = ["Kill", "hunt"]


class Kill(NamedTuple):
    """What became of a saboteur: the seeds that it took, 0 if it survived them all, and how the case failed."""

    name: str
    seeds: int
    seconds: float
    reason: str


def hunt(saboteur: Saboteur, seeds: int) -> Kill:
    """Run a saboteur's case with one seed after the other until it fails. The saboteur's package is installed."""
    SHRINK_SECONDS["quick"] = 0.0  # nobody reads the program
    begin = time.perf_counter()
    device = ep.device(f"{saboteur.name}:0")
    for seed in range(seeds):
        job = Job(device.name, "quick", None, seed, None, Path())
        outcome = execute(device, saboteur.killed_by, job)
        if outcome.status is Status.FAIL:
            return Kill(saboteur.name, seed + 1, time.perf_counter() - begin, outcome.reason)
    return Kill(saboteur.name, 0, time.perf_counter() - begin, "")
