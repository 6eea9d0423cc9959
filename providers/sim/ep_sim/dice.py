"""The random choices, all from one seed: which of the ready streams goes on, and how far.

Streams are chosen by rank, and ranks are drawn anew now and then, so that one stream gets far ahead of another as often
as all go abreast: the priorities of Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
Probabilistic Guarantees of Finding Bugs", ASPLOS 2010.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_sim.task import Queue

__all__ = ["Dice"]

_OVERLAPPING: Final = 0.25  # the share of rounds in which two tasks are done at the same time
_CHANGING: Final = 0.125  # of rounds after which a stream's rank is another
_DELAYED: Final = 0.06  # of rounds that begin late
_EAGER: Final = 0.06  # of enqueues during which the devices go on
_LONGEST_DELAY: Final = 0.0005
_LEAST_FIRST, _MOST_FIRST, _MOST_DOUBLINGS = 0, 2, 30


class Dice:
    """Two streams of random numbers: the devices' draws do not depend on the host's looks, nor the other way."""

    def __init__(self, seed: int) -> None:
        self._devices = random.Random()  # noqa: S311 - an order, not a secret
        self._host = random.Random()  # noqa: S311 - neither
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Begin again with a seed."""
        self._devices.seed(f"devices {seed}")
        self._host.seed(f"host {seed}")

    def rank(self) -> float:
        """Return the rank of a new stream."""
        return self._host.random()

    def is_eager(self) -> bool:
        """Say whether the devices go on during an enqueue."""
        return self._host.random() < _EAGER

    def rounds(self, looks: int) -> int:
        """Return how many rounds the host sees; `looks`: how often it has looked since it enqueued something."""
        return self._host.randint(_LEAST_FIRST, _MOST_FIRST) if looks == 1 else 1 << min(looks, _MOST_DOUBLINGS)

    def delay(self) -> float:
        """Return by how many seconds a round begins late."""
        return self._devices.random() * _LONGEST_DELAY if self._devices.random() < _DELAYED else 0.0

    def choose(self, ready: Sequence[Queue]) -> list[Queue]:
        """Return the one or two queues of a round: first the highest priority, within it the highest rank.

        ready : at least one; a queue whose next task is a call goes on alone
        """
        top = max(queue.priority for queue in ready)
        among = [queue for queue in ready if queue.priority == top]
        first = max(among, key=lambda queue: queue.rank)
        if self._devices.random() < _CHANGING:
            first.rank = self._devices.random()
        others = [queue for queue in among if queue is not first and not queue.tasks[0].is_call]
        if not others or first.tasks[0].is_call or self._devices.random() >= _OVERLAPPING:
            return [first]
        return [first, self._devices.choice(others)]
