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

__all__ = ["Computed", "elements"]

_TRIES: Final = 3


def elements(descriptor: ep.Descriptor) -> int:
    """Return how many elements the largest operand has: a sum has them in its input, random numbers in their output."""
    return max(spec.size for _, spec in descriptor.tensors if spec is not None)


class Computed:
    """The same operation over elements that caches hold, as often as makes the elements of the sample, by whom is quickest.

    peers : those that have the sample's operation, and agree
    times : how often the elements in caches make those of the sample
    """

    def __init__(self, sample: Sample, stream: ep.Stream, peers: Iterable[Peer], rng: np.random.Generator) -> None:
        cached = sample.cached
        assert cached is not None
        self._placed = Placed(stream, cached, replace(sample, descriptor=cached).data(rng))
        self.times = elements(sample.descriptor) / elements(cached)
        calls = [peer.call(cached, self._placed.inputs) for peer in peers]
        ways = [self._placed.run, *(call.repeat for call in calls if call is not None)]
        self._quickest: Callable[[int], None] = min(ways, key=lambda way: least(way, _TRIES))

    def binding(self, other: Limit) -> Limit:
        """Return this limit where it takes longer than the given one."""
        seconds = self.times * least(self._quickest, _TRIES)
        return Limit("arithmetic", [self._run]) if seconds > min(least(run, _TRIES) for run in other.runs) else other

    def _run(self, count: int) -> None:
        self._quickest(max(1, round(count * self.times)))

    def close(self) -> None:
        """Give everything back."""
        self._placed.close()
