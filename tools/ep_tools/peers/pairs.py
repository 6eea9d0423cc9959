"""Paired runs of EP and of a peer, which take turns behind a rest."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_onnx.report import report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import ep_onnx

__all__ = ["Pairs", "memory", "paired", "taken"]

_LEAST: Final = 7
"""Paired runs."""

_REST: Final = 0.1
"""Seconds before each run, in which threads of the other stop to spin for work: they would take one of two cores."""

_MEBI: Final = 1 << 20


class Pairs(NamedTuple):
    """Seconds of EP's runs and of the peer's, pair by pair."""

    ours: Sequence[float]
    theirs: Sequence[float]

    def cells(self) -> list[str]:
        """Return for a table: both medians in ms, and the peer's time over EP's, its median and 25th percentile."""
        ours, theirs = (f"{statistics.median(side) * 1e3:.1f}" for side in self)
        ratios = [there / here for here, there in zip(*self, strict=True)]
        return [ours, theirs, f"{statistics.median(ratios):.2f}", f"{statistics.quantiles(ratios, n=4)[0]:.2f}"]


def taken(run: Callable[[], object], rest: float = _REST) -> float:
    """Return the seconds of one run behind a rest."""
    time.sleep(rest)
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def paired(ours: Callable[[], object], theirs: Callable[[], object], seconds: float) -> Pairs:
    """Run both in turn for so many seconds, and a few times at the least."""
    pairs: list[tuple[float, float]] = []
    begun = time.perf_counter()
    while len(pairs) < _LEAST or time.perf_counter() - begun < seconds:
        pairs.append((taken(ours), taken(theirs)))
    return Pairs(*zip(*pairs, strict=True))


def memory(session: ep_onnx.Session) -> str:
    """Return the MiB of a session's arena, and those that it would need if nothing shared them."""
    found = report(session)
    return f"{found.arena_nbytes / _MEBI:.1f} / {found.needed_nbytes / _MEBI:.1f}"
