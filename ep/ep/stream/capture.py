"""A Capture is a door of its streams: work that reaches it becomes nodes of a graph and is not run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.ground.uncopied import Uncopied
from ep.stream import doors, verbs
from ep.stream.event import Event
from ep.stream.graph import Graph
from ep.work.executable import Node
from ep.work.primitive import Primitive
from ep.work.step import Step

if TYPE_CHECKING:
    from types import TracebackType

    from ep.memory.memory import Memory
    from ep.stream.doors import Onward
    from ep.stream.stream import Stream

__all__ = ["Capture", "CapturedEvent", "Capturing"]

_CURES: Final = {
    "wait": "wait for events from outside the capture before graph.launch, on the stream that launches",
    "graph": "launch one graph after the other, or capture the work of both",
}
_CURE: Final = "do it before the capture or after it"


@final
class Capturing(Uncopied):
    """What `with stream.capture() as graph:` enters. Where nobody can leave it, as after a Ctrl-C at the block's end, its end is the capture's."""

    def __init__(self, stream: Stream) -> None:
        self._capture = Capture(stream)

    def __enter__(self) -> Graph:
        return self._capture.begin()

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self._capture.leave(is_broken=kind is not None)

    def __del__(self) -> None:
        if hasattr(self, "_capture"):  # its construction was not interrupted
            self._capture.drop()


@final
class Capture(Uncopied):
    """What streams record together.

    Other streams of the device join by waiting for an event recorded in the capture, and must be waited for in turn
    before it ends. The nodes stand in the order in which the host enqueued them, which every wait agrees with.
    """

    def __init__(self, stream: Stream) -> None:
        self._origin = stream
        self._turn = threading.RLock()  # handlers may enqueue into a capture that they interrupt
        self._streams: list[Stream] = []  # those that it stands before
        # For each stream the number of nodes of each stream that come before its next enqueue.
        self._before: dict[Stream, dict[Stream, int]] = {}
        self._is_entered = False
        self.graph = Graph(stream.device)

    def begin(self) -> Graph:
        """Stand before the stream, and return the graph that its work becomes."""
        stream = self._origin
        stream._require_open("capture")
        if self._is_entered:
            message = "capture: this capture was entered already; call stream.capture() for each"
            raise ValueError(message)
        stream._require_uncaptured("capture")
        self._is_entered = True
        self._add(stream)
        return self.graph

    def leave(self, *, is_broken: bool) -> None:
        """End, and complete the graph, unless an exception ends the block. Raises ValueError for streams that nobody waits for."""
        try:
            loose = [stream.name for stream, before in self._before.items() if self._is_loose(stream, before)]
        except BaseException:  # Ctrl-C
            self.drop()
            raise
        self.end()
        if is_broken:
            self.graph._abandon("an exception ended its capture")
        elif loose:
            self.graph._abandon("its capture ended before its stream waited for the work of the other streams")
            message = (
                f"capture: {', '.join(loose)} joined it, and {self._origin.name} does not wait for their last work; "
                "before the capture ends, let it wait for an event recorded after that work"
            )
            raise ValueError(message)
        else:
            self.graph._complete()

    def drop(self) -> None:
        """End a capture that was not left."""
        if self._streams:
            self.end()
            self.graph._abandon("its capture was broken off")

    def end(self) -> None:
        """Let the work of the streams run again. Interrupted, it goes on when it is called again."""
        with self._turn:
            for stream in self._streams:
                stream._capture = None  # from here on its door lets all work pass
                doors.remove(stream, "capture")
            self._streams.clear()

    def join(self, stream: Stream, event: CapturedEvent) -> None:
        """Let a stream wait for an event of this capture, and belong to it from here on."""
        if not self._streams:
            message = (
                f"wait: the event was recorded in a capture of {self._origin.name} that has ended, and is no point of "
                "any stream; record an event after graph.launch"
            )
            raise ValueError(message)
        if stream.device is not self._origin.device:
            message = (
                f"wait: the event was recorded in a capture on {self._origin.device.name}, and {stream.name} is of "
                "another device; a graph is of one device: wait for an event recorded after graph.launch"
            )
            raise ValueError(message)
        if stream not in self._streams:
            stream._require_uncaptured("wait")
            self._add(stream)
        with self._turn:
            before = self._before[stream]
            for other, count in event.before.items():
                before[other] = max(before[other], count) if other in before else count

    def refuse(self, stream: Stream, what: object) -> NoReturn:
        """Say that something cannot be captured; stream and capture stay usable."""
        name = str(what)
        message = (
            f"{name}: {stream.name} is being captured, and this cannot be part of a graph; {_CURES.get(name, _CURE)}"
        )
        raise ValueError(message)

    def _add(self, stream: Stream) -> None:
        with self._turn:
            self._streams.append(stream)
            self._before[stream] = {stream: 0}
            stream._capture = self
            doors.put(stream, "capture", self._take)

    def _take(  # noqa: PLR0913, PLR0917 - a door
        self,
        onward: Onward,
        stream: Stream,
        what: Any,
        memories: tuple[Memory, ...],
        scalars: tuple[Any, ...],
        run: Any,
    ) -> Any:
        """Record the enqueue as a node, and pass nothing on, unless the stream's capture has ended and its door was left."""
        if stream._capture is not self:
            return onward(stream, what, memories, scalars, run)
        if run is verbs.record and what == "record":
            return self._mark(stream, timed=scalars[0])
        if isinstance(what, Step):
            what._require_open()
            memories, scalars, what = what.memories, what.scalars, what.primitive
        elif isinstance(what, Primitive) or run is verbs.copy or run is verbs.fill:
            stream._admit(what, memories)
        else:
            self.refuse(stream, what)
        if isinstance(what, Primitive):
            memories, run = what._placed(memories), what._run
        with self._turn:
            self.graph._add(Node(what, memories, scalars, run), [*self._before].index(stream))
            self._before[stream][stream] += 1
        return None

    def _mark(self, stream: Stream, *, timed: bool) -> CapturedEvent:
        if timed:
            message = (
                f"record: {stream.name} is being captured, and events of a capture carry no time; record timed events "
                "before and after graph.launch"
            )
            raise ValueError(message)
        with self._turn:
            return CapturedEvent(stream, self, dict(self._before[stream]))

    def _is_loose(self, stream: Stream, before: dict[Stream, int]) -> bool:
        return before[stream] > self._before[self._origin].get(stream, 0)


@final
class CapturedEvent(Event):
    """A point among the nodes of a capture: streams of the capture wait for it, the host cannot ask for it.

    before : how many nodes of each captured stream are before it
    """

    def __init__(self, stream: Stream, capture: Capture, before: dict[Stream, int]) -> None:
        super().__init__(stream, None, is_timed=False)
        self.capture = capture
        self.before = before

    def _is_done(self) -> bool:
        message = (
            f"event: it was recorded in a capture of {self.stream.name} and is no point in time; record one after "
            "graph.launch on the stream that launches"
        )
        raise ValueError(message)
