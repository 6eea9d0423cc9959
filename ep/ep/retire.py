"""The retire list of a device: what was closed waits here until no enqueued work can touch it any more."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ep.event import Event
    from ep.pool import Pool
    from ep.segment import Segment
    from ep.stream import Stream
    from ep.waiting import Deadline

__all__ = ["RetireList"]

_MOST_BATCHES: Final = 4  # more would be as many events on a stream that does not get on, and tell little


class RetireList:
    """Segments that were closed, and the streams that may still use them.

    `append` is all that a close() or finalizer does: one deque append, no lock, no driver call. A drain stamps what
    has arrived with a point in every enrolled stream and gives what has passed to the pool.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._arrived: deque[Segment] = deque()
        self._stamped: deque[tuple[list[Segment], list[Event]]] = deque()
        # In the order in which they came, which a set would not keep: what is recorded where is the same in each run.
        self._enrolled: dict[weakref.ref[Stream], None] = {}
        self._orphans: deque[Stream] = deque()
        self._lock = threading.RLock()
        self.append = self._arrived.append

    def __len__(self) -> int:
        return len(self._arrived) + sum(len(segments) for segments, _ in self._stamped)

    def enrol(self, stream: Stream) -> None:
        """Note that the stream may touch memory of this device."""
        with self._lock:
            self._enrolled[weakref.ref(stream, self._strike)] = None

    def adopt(self, stream: Stream) -> None:
        """Keep a stream that was dropped with work under way until that work is done. Called by its finalizer."""
        self._orphans.append(stream)

    def drain(self) -> None:
        """Give the pool what no stream can touch any more. Waits for nothing where the provider has events."""
        if self._arrived or self._stamped or self._orphans:
            with self._lock:
                if self._stamped:
                    self._pass()
                if self._arrived and len(self._stamped) < _MOST_BATCHES:
                    self._stamp()
                if self._orphans:
                    self._bury()

    def orphans(self) -> list[Stream]:
        """Return the streams that were dropped with work under way."""
        return [stream for stream in [*self._orphans] if not stream.is_closed]

    def wait_for_orphans(self, deadline: Deadline | None = None) -> None:
        """Wait for the streams that were dropped with work under way. Raises TimeoutError."""
        for stream in self.orphans():
            stream._outlast(deadline.left() if deadline else None)

    def wait_for_streams(self) -> None:
        """Wait for all streams that may touch memory of this device, dropped ones too. Their errors stay theirs."""
        for stream in self._streams():
            if not stream.is_closed:
                stream._outlast()

    def drain_all(self) -> None:
        """Give the pool everything, when the caller knows that all enrolled streams and orphans are idle."""
        with self._lock:
            while self._stamped:
                self._pool.put(self._stamped.popleft()[0])
            self._pool.put(self._arrivals())
            self._bury()

    def _pass(self) -> None:
        """Hand over the batches whose points have been reached: the streams are in order, so the first ones first."""
        while self._stamped:
            segments, events = self._stamped[0]
            while events and events[-1]._is_done():
                events.pop()
            if events:
                return
            self._stamped.popleft()
            self._pool.put(segments)

    def _stamp(self) -> None:
        # Segments first: whoever closed one has enqueued all that touches it, on streams that are enrolled by now.
        segments = self._arrivals()
        if self._enrolled or self._orphans:
            try:
                fences = [stream._fence() for stream in self._streams()]
            except BaseException:
                self._arrived.extendleft(reversed(segments))
                raise
            events = [fence for fence in fences if fence is not None]
            if events:
                self._stamped.append((segments, events))
                return
        self._pool.put(segments)

    def _arrivals(self) -> list[Segment]:
        arrived, segments = self._arrived, []
        while arrived:
            segments.append(arrived.popleft())
        return segments

    def _streams(self) -> list[Stream]:
        enrolled = [stream for reference in [*self._enrolled] if (stream := reference()) is not None]
        return [*enrolled, *self._orphans]

    def _strike(self, reference: weakref.ref[Stream]) -> None:
        self._enrolled.pop(reference, None)

    def _bury(self) -> None:
        for _ in range(len(self._orphans)):
            stream = self._orphans.popleft()
            if stream._fence() is None:
                stream._finish()
                stream._warn()
            else:
                self._orphans.append(stream)
