"""The arithmetic of a sample: what its elements take where memory takes next to nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ep_benchmarks.limits.work import Limit
from ep_benchmarks.run.placed import Placed
from ep_benchmarks.timing import least

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from ep_primitives.cases.sample import Sample

    import ep
    from ep_benchmarks.peers.peer import Peer

__all__ = ["Computed"]

_TRIES: Final = 3


class Computed:
    """The same operation over elements that caches hold, as often as makes the elements of the sample, by whom is quickest.

    peers : those that have the sample's operation, and agree
    """

    def __init__(self, sample: Sample, stream: ep.Stream, peers: Iterable[Peer], rng: np.random.Generator) -> None:
        cached = sample.cached
        assert cached is not None
        self._placed = Placed(stream, cached, replace(sample, descriptor=cached).data(rng))
        self._times = sample.descriptor.out.size / cached.out.size
        calls = [peer.call(cached, self._placed.inputs) for peer in peers]
        ways = [self._placed.run, *(call.repeat for call in calls if call is not None)]
        self._quickest: Callable[[int], None] = min(ways, key=lambda way: least(way, _TRIES))

    def binding(self, memory: Limit) -> Limit:
        """Return this limit where it takes longer than the given one."""
        seconds = self._times * least(self._quickest, _TRIES)
        return Limit("arithmetic", [self._run]) if seconds > min(least(run, _TRIES) for run in memory.runs) else memory

    def _run(self, count: int) -> None:
        self._quickest(max(1, round(count * self._times)))

    def close(self) -> None:
        """Give everything back."""
        self._placed.close()
