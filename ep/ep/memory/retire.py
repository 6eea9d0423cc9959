"""The retire list of a device: closed memories wait here until no enqueued work can touch them any more."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import islice, repeat, starmap
from typing import TYPE_CHECKING, Final

from ep.errors import DeviceError, TimeoutError  # noqa: A004 - ours is the builtin, too
from ep.ground.callback import is_working
from ep.ground.roster import Roster
from ep.ground.waiting import sleep, wait_until
from ep.memory.segment import OWNERSHIP

if TYPE_CHECKING:
    from ep.ground.waiting import Deadline
    from ep.memory.memory import LeaseRef
    from ep.memory.pool import Pool
    from ep.stream.event import Event
    from ep.stream.stream import Stream

__all__ = ["Batch", "RetireList"]

_MOST_BATCHES: Final = 4  # more would only place more events on a stream that makes no progress
_PATIENCE: Final = 0.5  # seconds, for a drain in another thread; a drain that this thread interrupts cannot end


class Batch:
    """Leases that ended at about one time.

    events : points that the streams must pass first, None until they are recorded
    done   : the number of leases whose segments the pool has
    """

    __slots__ = ("done", "events", "leases")

    def __init__(self) -> None:
        self.leases: list[LeaseRef] = []
        self.events: list[Event] | None = None
        self.done = 0


class RetireList:
    """Ended leases, and the streams that may still use their bytes.

    The end of a lease only appends to `arrived`: no lock, no driver call. A drain records an event in every enrolled
    stream for the leases that arrived, and gives leases whose events have passed to the pool. A drain that begins while
    another
    is under way, in the same thread or another, does nothing.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.arrived: deque[LeaseRef] = deque()
        self._leaving = starmap(self.arrived.popleft, repeat(()))
        self._stamped: deque[Batch] = deque()
        self._enrolled: Roster[Stream] = Roster()
        self._orphans: deque[Stream] = deque()
        self._is_draining = False

    def __len__(self) -> int:
        return len(self.arrived) + sum(len(batch.leases) - batch.done for batch in [*self._stamped])

    def enrol(self, stream: Stream) -> None:
        """Note that the stream may touch memory of this device."""
        self._enrolled.add(stream)

    def adopt(self, stream: Stream) -> None:
        """Keep a stream that was dropped with work under way until that work is done. Called by its finalizer."""
        self._orphans.append(stream)

    def drain(self) -> None:
        """Give the pool the leases that no stream can touch any more. Waits for nothing if the provider has events."""
        if self.arrived or self._stamped or self._orphans:
            is_mine = False
            try:
                with OWNERSHIP.lock:
                    if not self._is_draining:
                        self._is_draining = is_mine = True
                if is_mine:
                    if self._stamped:
                        self._pass()
                    self._stamp()
                    if self._orphans:
                        self._bury()
            finally:
                if is_mine:
                    self._is_draining = False

    def drain_patiently(self) -> None:
        """Drain, after a drain under way in another thread."""
        with suppress(TimeoutError):  # the drain under way is one that this thread interrupts
            wait_until(lambda: not self._is_draining, _PATIENCE, "drain", sleep)
        self.drain()

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

    def recall(self) -> None:
        """Wait until all closed memory is back in the pool, as far as this thread may wait."""
        if not is_working():
            self.wait_for_streams()
        self.drain_patiently()

    def drain_all(self) -> None:
        """Give the pool everything, when the caller knows that all enrolled streams and orphans are idle."""
        self.drain_patiently()
        self._gather()
        for batch in [*self._stamped]:
            batch.events = []
        self._pass()
        self._bury()

    def _pass(self) -> None:
        """Hand over the batches whose points have been reached: the streams are in order, so the first ones first."""
        stamped = self._stamped
        while stamped:
            batch = stamped[0]
            events = batch.events
            if events is None:
                return
            while events and (events[-1].stream.is_closed or events[-1]._is_done()):
                del events[-1:]
            if events:
                return
            self._pool.put(batch)
            if stamped and stamped[0] is batch:  # else the end of the process has interrupted this
                stamped.popleft()

    def _stamp(self) -> None:
        if self.arrived and len(self._stamped) < _MOST_BATCHES:
            self._gather()
        if self._stamped and self._stamped[-1].events is None:
            batch = self._stamped[-1]
            events = []
            for stream in self._streams():
                try:
                    event = stream._fence()
                except DeviceError as error:
                    stream._failure.keep(error)  # its next synchronisation raises it; memory that it may touch is kept
                    return
                if event is not None:
                    events.append(event)
            batch.events = events
            if not events:
                self._pass()

    def _gather(self) -> None:
        """Make a batch of what has arrived, or add it to one that has no points yet."""
        arrived, stamped = self.arrived, self._stamped
        if not stamped or stamped[-1].events is not None:
            stamped.append(Batch())
        # In one call, so that no lease is missing from both.
        stamped[-1].leases.extend(islice(self._leaving, len(arrived)))

    def _streams(self) -> list[Stream]:
        streams = self._enrolled.living()
        return [*streams, *self._orphans] if self._orphans else streams

    def _bury(self) -> None:
        for stream in [*self._orphans]:
            if stream._fence() is None:
                try:
                    stream._finish()
                except Exception as error:  # noqa: BLE001 - a drain's caller did not cause it: it becomes a warning
                    stream._failure.keep(error)
                stream._warn()
                self._orphans.remove(stream)
