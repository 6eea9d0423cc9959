"""The honest graph: one task of the stream's worker, which runs node after node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.work.executable import Replay

from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.work.executable import Bindings, Run

__all__ = ["HonestGraph"]


class _Lane(HonestStream):
    """What nodes are enqueued on inside the worker: each is done at once. No stream of anybody else."""

    def __init__(self, stream: HonestStream) -> None:
        self.ledger = stream.ledger.behind(stream.ledger.ticket())
        self.device = stream.device
        self.cpu = stream.cpu

    def enqueue(self, task: Callable[[], object]) -> None:
        task()


class HonestGraph(Replay):
    """Captured nodes; saboteurs override how they are bound or run."""

    def bind(self, bindings: Bindings) -> Run:
        replay = super().bind(bindings)

        def run(stream: Any, memories: Any, scalars: Any) -> None:
            stream.device.require_there()
            lane = self.lane(stream)
            stream.enqueue(lambda: replay(lane, memories, scalars))

        return run

    def lane(self, stream: HonestStream) -> HonestStream:
        """Return what does at once, in the stream's worker, what is enqueued on it."""
        return _Lane(stream)
