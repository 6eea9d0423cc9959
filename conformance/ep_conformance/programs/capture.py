"""A CaptureBuilder makes the inside of a graph: legal by itself, every stream joined and joined back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ep_conformance.programs.build import Builder
from ep_conformance.programs.launches import Capture, Replay
from ep_conformance.programs.order import HOST
from ep_conformance.programs.points import Record, Wait

if TYPE_CHECKING:
    from ep_conformance.programs.op import Op
    from ep_conformance.programs.program import Intent

__all__ = ["CaptureBuilder"]


class CaptureBuilder(Builder):
    """What a program captures, while it grows; nothing is done before a launch."""

    verbs: ClassVar[frozenset[str]] = frozenset({"copy", "fill", "launch", "record", "wait"})

    def __init__(self, outside: Builder, origin: str) -> None:
        super().__init__(outside.mix, outside.streams, outside.memories)
        self._origin = origin
        self._joined = {origin}
        self._graph = outside.name("g")

    def name(self, letter: str) -> str:
        """Return a name that is free inside, and no name of the outside."""
        return f"{self._graph}{super().name(letter)}"

    def do(self, op: Op) -> None:
        """Append a node; a stream that is not captured yet waits for an event of the origin first."""
        if op.actor not in self._joined:
            self._joined.add(op.actor)
            self._hand_over(self._origin, op.actor)
        super().do(op)

    def end(self, outside: Builder, intent: Intent) -> None:
        """Join the streams back, and let the graph be launched outside."""
        for stream in self._joined - {self._origin}:
            self._hand_over(stream, self._origin)
        graph = Capture(HOST, self._graph, self._origin, tuple(self.ops), ())
        slots = tuple(sorted(graph.places))[: 1 + intent.first % 3]
        graph = Capture(HOST, self._graph, self._origin, tuple(self.ops), slots)
        outside.graphs.append(graph)
        outside.do(graph)
        outside.do(Replay(self._origin, graph, ()))

    def _hand_over(self, giver: str, taker: str) -> None:
        event = self.name("e")
        self.do(Record(giver, event))
        super().do(Wait(taker, event))

    def _is_done_at_once(self, actor: str) -> bool:
        del actor
        return False
