"""How far a stream has got: waits of the host, fences for what was closed, the host buffers of copies under way."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Final, NoReturn

from ep.errors import DeviceLostError
from ep.ground.waiting import sleep
from ep.memory.buffers import HeldBuffers
from ep.memory.segment import OWNERSHIP
from ep.spi.stream import Stream as SpiStream
from ep.spi.stream import settle
from ep.stream.event import Event

if TYPE_CHECKING:
    from ep.stream.stream import Stream

__all__ = ["Progress", "refuse_reentry"]

_NO_VERB: Final = -1


class Progress:
    """The progress of one stream. Each call takes the stream as an argument, so that it does not refer to itself.

    is_settled  : False: work may be under way even when no verb is
    held        : the host buffers of copies that are not seen done
    """

    __slots__ = ("_fenced", "_fencer", "held", "is_settled")

    def __init__(self, *, is_settled: bool) -> None:
        self.is_settled = is_settled
        self.held = HeldBuffers()
        self._fencer = 0  # the thread that records an event beside the one that uses the stream
        self._fenced: tuple[int, Event | None] = (0, None)

    def finish(self, stream: Stream, timeout: float | None) -> None:
        """Wait for all enqueued work; its errors are kept for the next synchronisation. Raises TimeoutError."""
        # Read before the wait: another thread or a handler may enqueue meanwhile.
        sequence = stream._sequence
        if not self.is_settled:
            settle(stream.twin, timeout)
            self.is_settled = stream.is_synchronous
        self.held.release(sequence)
        self._fenced = (sequence, None)

    def hold(self, stream: Stream, view: memoryview) -> None:
        """Keep a host buffer until its copy is seen done."""
        if not stream.is_synchronous:
            self.held.add(view, stream._sequence + (stream._inside is not None), stream._fence)

    def fence(self, stream: Stream) -> Event | None:
        """Return an event that is done once all work enqueued so far is, None if it is already."""
        if stream._inside is not None:  # the verb under way counts as enqueued, in any thread
            return _Behind(stream, stream._sequence)
        if self.is_settled:
            return None
        enqueued, event = self._fenced
        return None if event is None and enqueued == stream._sequence else self.fence_now(stream)

    def fence_now(self, stream: Stream) -> Event | None:
        """Return an event at this point of the stream, None if all before it is done."""
        me = get_ident()
        is_mine = False
        try:
            # Not beside end(): an event that is recorded in a closed stream is never reached.
            with OWNERSHIP.lock:
                is_closed = stream.is_closed
                if not is_closed and not self._fencer:
                    self._fencer, is_mine = me, True
            if is_mine:
                return self._recorded(stream)
            return None if is_closed else _Behind(stream, _NO_VERB)
        finally:
            if is_mine:
                self._fencer = 0

    def end(self, stream: Stream) -> bool:
        """Mark a stream closed, after the fence that another thread records; return whether it was open."""
        if self._fencer == get_ident():
            refuse_reentry(stream)
        is_mine = False
        while not is_mine:
            with OWNERSHIP.lock:
                if stream.is_closed:
                    return False
                if not self._fencer:  # else another thread records an event, which takes no time
                    stream.is_closed = is_mine = True
            sleep(0)
        self.held = HeldBuffers()
        return True

    def _recorded(self, stream: Stream) -> Event | None:
        # Read once, and first: the thread that uses the stream may enqueue more meanwhile, which this event misses.
        enqueued = stream._sequence
        sequence, event = self._fenced
        if sequence != enqueued:
            try:
                if type(stream.twin).record is SpiStream.record:
                    stream.twin.synchronize()
                    event = None
                else:
                    event = Event(stream, stream.twin.record(timed=False), is_timed=False)
            except DeviceLostError:  # nothing is under way on it; verbs and waits say that it is lost
                event = None
        if event is not None and event._is_done():
            event = None
        self._fenced = (enqueued, event)
        return event


class _Behind(Event):
    """The end of a verb that is under way, and of all that was enqueued before it."""

    def __init__(self, stream: Stream, enqueued: int) -> None:
        super().__init__(stream, None, is_timed=False)
        self._enqueued = enqueued
        self._mark: Event | None = self

    def _is_done(self) -> bool:
        stream, progress = self.stream, self.stream._progress
        if stream._inside is not None and stream._sequence == self._enqueued:
            return False
        if self._mark is self:
            mark = None if progress.is_settled else progress.fence_now(stream)
            if type(mark) is _Behind:  # another thread is recording it
                return False
            self._mark = mark
        return self._mark is None or self._mark._is_done()


def refuse_reentry(stream: Stream) -> NoReturn:
    """Refuse to close a stream inside of a verb of its own."""
    message = (
        f"close: {stream.name} is in the middle of a verb, which the signal handler or finalizer that calls close has "
        "interrupted; let the handler set a flag, and close the stream where the program reads the flag"
    )
    raise ValueError(message)
