"""The mutation score: how many mutants the cases of a profile kill, by family, by dimension and by fault."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from ep_conformance.saboteurs.mutants.hunt import Fate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ep_conformance.saboteurs.mutants.mutant import Mutant

__all__ = ["Score", "fates", "scores"]


class Score(NamedTuple):
    """Mutants of one kind that changed a result, and how many of them died."""

    killed: int
    of: int


def fates(
    mutants: Sequence[Mutant], packages: Path, *, profile: str, jobs: int, hear: Callable[[Mutant, Fate], None]
) -> dict[Mutant, Fate]:
    """Return what became of each mutant; processes share them, and the provider's package is installed in a folder.

    Raises RuntimeError if a process ends early.
    """
    found: dict[Mutant, Fate] = {}

    def follow(mine: Sequence[Mutant]) -> None:
        for mutant, fate in _answers(mine, packages, profile):
            found[mutant] = fate
            hear(mutant, fate)

    # Neighbours are of one family, whose cases a process lists once.
    shares = [mutants[number * len(mutants) // jobs : (number + 1) * len(mutants) // jobs] for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(follow, share) for share in shares if share]:
            done.result()
    return found


def _answers(mutants: Sequence[Mutant], packages: Path, profile: str) -> Iterable[tuple[Mutant, Fate]]:
    paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "ep_conformance.saboteurs.mutants.hunt", profile],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "EP_CPU_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        for mutant in mutants:
            process.stdin.write(json.dumps(mutant) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                message = f"the process that hunted {mutant} ended with exit code {process.wait()}"
                raise RuntimeError(message)
            yield mutant, Fate(*json.loads(line))
    finally:
        process.kill()
        process.wait()


def scores(found: dict[Mutant, Fate], kinds: Callable[[Mutant], Iterable[str]]) -> dict[str, Score]:
    """Return the score of each kind of mutant, those that changed no result left out."""
    of: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    for mutant, fate in found.items():
        if fate.word != "without effect":
            for kind in kinds(mutant):
                of[kind] += 1
                killed[kind] += bool(fate.killer)
    return {kind: Score(killed[kind], number) for kind, number in sorted(of.items())}


def as_json(found: dict[Mutant, Fate]) -> list[dict[str, Any]]:
    """Return each mutant with its fate."""
    return [
        {"mutant": str(mutant), **mutant._asdict(), **fate._asdict(), "word": fate.word}
        for mutant, fate in found.items()
    ]
