"""Interleaved timing: all candidates take turns, so that other load on the machine disturbs them alike."""

from __future__ import annotations

import gc
import random
import statistics
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Timing", "interleave", "least"]

_ROUNDS: Final = 15
_ROUND_SECONDS: Final = 0.01
_FEW_ROUNDS: Final = 3
_CALM: Final = 0.1
"""The spread from which on more rounds may say more."""
_LONG: Final = 1.0
"""Seconds of a call from which on there are three rounds: seven would take minutes and say the same."""
_ENOUGH: Final = 10.0
"""Seconds after which no more rounds are added: twenty of a peer that takes half a second say little more than seven."""
_LONG_WARMING: Final = 0.1
"""Seconds of a call from which on a turn is warm without one before it."""
_TRIES: Final = 9
_TURN_SECONDS: Final = 0.004
_THREADS: Final = Path("/proc/self/task")
_GLANCE: Final = 0.001
_PATIENCE: Final = 0.3
"""Seconds: OpenBLAS, which NumPy multiplies with, has threads that yield to others for a tenth of one before they sleep."""


class Timing(NamedTuple):
    """Seconds of one call of one candidate, a value a round; `median` and `spread` summarise them."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """The interquartile range over the median."""
        low, _, high = statistics.quantiles(self.rounds, n=4)
        return (high - low) / self.median

    def ratio(self, peer: Timing) -> tuple[float, float]:
        """Return peer time / own time over the paired rounds: its median and its 25th percentile."""
        ratios = [theirs / ours for ours, theirs in zip(self.rounds, peer.rounds, strict=True)]
        return statistics.median(ratios), statistics.quantiles(ratios, n=4)[0]


def interleave(
    candidates: Mapping[str, Callable[[int], None]],
    rounds: int = _ROUNDS,
    settle: Callable[[], None] | None = None,
    pause: float = 0.0,
    most: int = 0,
) -> dict[str, Timing]:
    """Time all candidates in turn, `rounds` times, or three times where one of them takes seconds.

    Each round has an order of its own, the same ones in every process: a turn pays for lines that the one before it
    left to be written, so that nobody may follow the same one always, or itself.

    candidates : each takes a count and does its work that often, so that the loop is timed, too
    settle     : called after each turn and not timed: waits for enqueued work
    pause      : seconds before each turn, and more until the threads of the one before are asleep, so that none is
                 timed while another one's still spin; then a candidate runs a turn untimed, if its calls are short: a
                 core that has slept for long is slow for milliseconds
    most       : rounds after which all end that go on, from more than three and for ten seconds, while a candidate
                 spreads by over a tenth: how far times lie apart decides that, not their ratio
    """
    settle = settle or _nothing
    begin = time.perf_counter()
    counts, warms = {}, {}
    for name, run in candidates.items():
        counts[name] = _calibrate(run, settle)
        end = time.perf_counter()
        warms[name] = pause > 0 and end - begin < _LONG_WARMING
        rounds = rounds if end - begin < _LONG else min(rounds, _FEW_ROUNDS)
        begin = end
    most = most if rounds > _FEW_ROUNDS else 0
    enough = time.perf_counter() + _ENOUGH
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    orders = _orders(list(candidates))
    gc.collect()
    gc.disable()
    try:
        for done in range(max(rounds, most)):
            is_calm = done >= rounds and all(Timing(tuple(each)).spread <= _CALM for each in seconds.values())
            if is_calm or (done >= rounds and time.perf_counter() > enough):
                break
            for name in next(orders):
                run = candidates[name]
                if pause:
                    time.sleep(pause)
                    _wait_for_sleepers()
                if warms[name]:
                    run(counts[name])
                begin = time.perf_counter()
                run(counts[name])
                seconds[name].append((time.perf_counter() - begin) / counts[name])
                settle()
    finally:
        gc.enable()
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def _orders(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names in one order after another, in which none follows itself."""
    chance, last = random.Random(0), ""  # noqa: S311 - orders are no secrets
    while True:
        order = chance.sample(names, len(names))
        if order[0] == last:
            order.append(order.pop(0))
        last = order[-1]
        yield order


def least(run: Callable[[int], None], tries: int = _TRIES) -> float:
    """Return the least seconds of one call, in turns of some milliseconds: what is possible."""
    count, passed = 1, _timed(run, 1)
    if passed < _TURN_SECONDS:
        count = max(1, int(_TURN_SECONDS / max(passed, 1e-8)))
        count = max(1, min(count, int(_TURN_SECONDS / max(_timed(run, count) / count, 1e-9))))
    return min(_timed(run, count) / count for _ in range(tries))


def _timed(run: Callable[[int], None], count: int) -> float:
    begin = time.perf_counter()
    run(count)
    return time.perf_counter() - begin


def _calibrate(run: Callable[[int], None], settle: Callable[[], None]) -> int:
    """Return how many calls fill a round; the warm-up of the candidate comes with it."""
    count = 1
    while True:
        begin = time.perf_counter()
        run(count)
        passed = time.perf_counter() - begin
        settle()
        if passed >= _ROUND_SECONDS / 4:
            return max(1, int(count * _ROUND_SECONDS / passed))
        count *= 4


def _wait_for_sleepers() -> None:
    """Return when no other thread of this process runs, or after `_PATIENCE`; at once where the system does not tell."""
    end = time.perf_counter() + _PATIENCE
    while any(map(_runs, _THREADS.glob("[0-9]*"))) and time.perf_counter() < end:
        time.sleep(_GLANCE)


def _runs(thread: Path) -> bool:
    if int(thread.name) == threading.get_native_id():
        return False
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    except OSError:  # it ended
        return False


def _nothing() -> None:
    """Settle nothing: the work is done when it returns."""
