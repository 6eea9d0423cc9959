"""Hunt saboteurs in processes of their own: one that dies or hangs costs itself, and the next ones a new process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.judge.outcome import Status
from ep_conformance.saboteurs.hunt import Kill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ep_conformance.saboteurs.saboteur import Saboteur

__all__ = ["HANG_SECONDS", "hunt_all"]

HANG_SECONDS: Final = 60.0
"""How long one saboteur may take, all of its seeds together."""

_TICK: Final = 0.25


class _Hunter:
    """A process and the saboteur that it is after."""

    def __init__(self, packages: Path, seeds: int) -> None:
        paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "ep_conformance.saboteurs.hunt", str(seeds)],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "EP_CPU_THREADS": "2",
                "HYPOTHESIS_STORAGE_DIRECTORY": str(packages / "hypothesis"),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._names, self.answers = self._process.stdin, self._process.stdout
        self.prey: Saboteur | None = None
        self.since = 0.0

    def follow(self, saboteur: Saboteur) -> None:
        """Set the process on a saboteur."""
        self.prey, self.since = saboteur, time.monotonic()
        try:
            self._names.write(f"{saboteur.name}\n".encode())
            self._names.flush()
        except OSError:
            return  # it is gone, which the end of its answers says

    def answer(self) -> Kill:
        """Return the kill that it answers with, or that it died of."""
        assert self.prey is not None
        line = self.answers.readline()
        if line:
            answered: dict[str, Any] = json.loads(line)
            return Kill(**answered)
        self._process.wait()
        return self.lost(Status.CRASH, f"the process ended with exit code {self._process.returncode}")

    def lost(self, status: Status, reason: str) -> Kill:
        """Return what there is to say of a saboteur that took its process with it."""
        assert self.prey is not None
        name, _, case = self.prey
        seconds = round(time.monotonic() - self.since, 3)
        return Kill(name, self.prey.defect, case, str(status), 0, seconds, reason)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._names.close()
        self.answers.close()
        self._process.wait()


def hunt_all(
    saboteurs: Sequence[Saboteur], packages: Path, *, seeds: int, jobs: int, hear: Callable[[Kill], None]
) -> None:
    """Hunt saboteurs, whose packages are installed in a folder, in some processes at once.

    hear : gets what became of each, in the order in which that is known
    """
    waiting = deque(saboteurs)
    hunters: list[_Hunter] = []
    try:
        while waiting or any(hunter.prey for hunter in hunters):
            while waiting and len(hunters) < min(jobs, len(saboteurs)):
                hunters.append(_Hunter(packages, seeds))
            for hunter in hunters:
                if hunter.prey is None and waiting:
                    hunter.follow(waiting.popleft())
            for hunter, kill in _listen([hunter for hunter in hunters if hunter.prey]):
                hunter.prey = None
                if kill.status in {Status.CRASH, Status.HANG}:
                    hunters.remove(hunter)
                    hunter.end()
                hear(kill)
    finally:
        for hunter in hunters:
            hunter.end()


def _listen(busy: list[_Hunter]) -> list[tuple[_Hunter, Kill]]:
    """Return the kills that are there, or that will not come any more, after a moment at most."""
    ready, _, _ = select.select([hunter.answers for hunter in busy], [], [], _TICK)
    kills = [(hunter, hunter.answer()) for hunter in busy if hunter.answers in ready]
    now = time.monotonic()
    return kills + [
        (hunter, hunter.lost(Status.HANG, f"no verdict after {HANG_SECONDS:g} s"))
        for hunter in busy
        if hunter.answers not in ready and now - hunter.since > HANG_SECONDS
    ]
