"""A Builder makes a legal program of any intents: it orders each op after the ops that it would race with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_conformance.programs.order import HOST, Order, Span
from ep_conformance.programs.points import Record, Renew, Synchronize, SynchronizeEvent, Wait
from ep_conformance.programs.program import Mix, Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_conformance.programs.launches import Bind, Capture
    from ep_conformance.programs.op import Op
    from ep_conformance.programs.order import Access

__all__ = ["Builder"]

_STREAMS: Final = "abcd"


class Builder:
    """A program while it grows.

    streams   : by name, whether it is synchronous and the number of its device
    memories  : the open ones by name, with the number of their device
    events    : names of those that were recorded
    """

    def __init__(self, mix: Mix, streams: Mapping[str, tuple[bool, int]], memories: Mapping[str, int]) -> None:
        self.mix = mix
        self.streams = streams
        self.memories = dict(memories)
        self.ops: list[Op] = []
        self.events: list[str] = []
        self.steps: list[Bind] = []
        self.graphs: list[Capture] = []
        self._first = dict(memories)
        self._order = Order(streams)
        self._names = 0

    @classmethod
    def of(cls, mix: Mix, modes: Sequence[bool], devices: int) -> Builder:
        """Return a builder with a stream a mode, dealt out to the devices, and the memories of the mix."""
        streams = {name: (mode, at % devices) for at, (name, mode) in enumerate(zip(_STREAMS, modes, strict=False))}
        return cls(mix, streams, {f"m{at}": at % devices for at in range(max(mix.memories, devices))})

    def program(self) -> Program:
        """Return what has grown."""
        return Program(self.mix, self.streams, self._first, tuple(self.ops))

    def do(self, op: Op) -> None:
        """Append an op, preceded by waits that order it after the ops that it would race with."""
        while (access := self._order.conflict(op.actor, op.reads, op.writes)) is not None:
            self._get_behind(op.actor, access)
        self._order.enqueue(op.actor, op.reads, op.writes)
        match op:
            case Record():
                self._order.record(op.event, op.actor)
                self.events.append(op.event)
            case Wait() | SynchronizeEvent():
                self._order.wait(op.actor, op.event)
            case Synchronize() | Renew():
                self._order.synchronize(op.stream)
        if self._is_done_at_once(op.actor):
            self._order.synchronize(op.actor)
        self.ops.append(op)

    def name(self, letter: str) -> str:
        """Return a name that is still free."""
        self._names += 1
        return f"{letter}{self._names}"

    def _is_done_at_once(self, actor: str) -> bool:
        return actor != HOST and self.streams[actor][0]

    def _get_behind(self, actor: str, access: Access) -> None:
        event = self._order.event_behind(access)
        if actor == HOST:
            self.do(Synchronize(HOST, access.actor) if event is None else SynchronizeEvent(HOST, event))
            return
        if event is None:
            event = self.name("e")
            self.do(Record(access.actor, event))
        self.do(Wait(actor, event))

    # Where verbs find their operands.

    def memory(self, stream: str, number: int) -> str | None:
        """Return one of the memories of a stream's device, None if it has none."""
        here = [name for name, device in self.memories.items() if device == self.streams[stream][1]]
        return here[number % len(here)] if here else None

    def span(self, place: str, start: int, length: int) -> Span:
        """Return a span of a place, whatever the numbers."""
        unit, units = self.mix.unit, self.mix.nbytes // self.mix.unit
        first = start % units
        last = first + 1 + length % (units - first)
        span = Span(place, first * unit, last * unit)
        views = self.mix.views and start % 2 and place in self.memories
        return span._replace(view=(first // 2 * unit, (last + units + 1) // 2 * unit)) if views else span

    def pair(self, stream: str, numbers: tuple[int, int, int], nbytes: int = 0) -> tuple[Span, Span] | None:
        """Return two spans of one length that share no byte; the first is of the stream's device."""
        ours = self.memory(stream, numbers[0])
        if ours is None:
            return None
        places = [*self.memories]
        other = places[numbers[2] % len(places)]
        unit, half = self.mix.unit, self.mix.nbytes // 2 // self.mix.unit
        length = nbytes // unit or 1 + numbers[1] % half
        swapped = numbers[2] % 2
        lower = numbers[1] // 3 % (half - length + 1)
        upper = half + numbers[2] // 3 % (half - length + 1)
        starts = (upper, lower) if swapped else (lower, upper)
        one, two = (
            Span(
                place,
                start * unit,
                (start + length) * unit,
                (start // 2 * unit, self.mix.nbytes) if self.mix.views else None,
            )
            for place, start in zip((ours, other), starts, strict=True)
        )
        return one, two
