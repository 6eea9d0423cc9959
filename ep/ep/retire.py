"""The retire list of a device: what was closed waits here until no enqueued work can touch it any more."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from ep.memory import MemoryKind

if TYPE_CHECKING:
    from ep.device import Device
    from ep.event import Event
    from ep.stream import Stream
    from ep.waiting import Deadline

__all__ = ["RetireList"]

Entry = tuple[Any, MemoryKind, object]


class RetireList:
    """Handles that were closed, and the streams that may still use them.

    `append` is all that a close() or finalizer does: one deque append, no lock, no driver call. A drain stamps what
    has arrived with a point in every enrolled stream and frees what has passed.
    """

    def __init__(self, device: Device) -> None:
        self._device = weakref.ref(device)
        self._arrived: deque[Entry] = deque()
        self._stamped: deque[tuple[list[Entry], list[Event]]] = deque()
        # In the order in which they came, which a set would not keep: what is recorded where is the same in each run.
        self._enrolled: weakref.WeakKeyDictionary[Stream, None] = weakref.WeakKeyDictionary()
        self._orphans: deque[Stream] = deque()
        self._lock = threading.RLock()
        self.append = self._arrived.append

    def __len__(self) -> int:
        return len(self._arrived) + sum(len(entries) for entries, _ in self._stamped)

    def enrol(self, stream: Stream) -> None:
        """Note that the stream may touch memory of this device."""
        with self._lock:
            self._enrolled[stream] = None

    def adopt(self, stream: Stream) -> None:
        """Keep a stream that was dropped with work under way until that work is done. Called by its finalizer."""
        self._orphans.append(stream)

    def drain(self) -> None:
        """Free what no stream can touch any more. Waits for nothing where the provider has events."""
        if not (self._arrived or self._stamped or self._orphans):
            return
        with self._lock:
            self._stamp()
            while self._stamped and all(event._is_done() for event in self._stamped[0][1]):
                self._free(self._stamped.popleft()[0])
            self._bury()

    def orphans(self) -> list[Stream]:
        """Return the streams that were dropped with work under way."""
        return [stream for stream in [*self._orphans] if not stream.is_closed]

    def wait_for_orphans(self, deadline: Deadline | None = None) -> None:
        """Wait for the streams that were dropped with work under way. Raises TimeoutError."""
        for stream in self.orphans():
            stream._outlast(deadline.left() if deadline else None)

    def drain_all(self) -> None:
        """Free everything, when the caller knows that all enrolled streams and orphans are idle."""
        with self._lock:
            while self._stamped:
                self._free(self._stamped.popleft()[0])
            self._free([self._arrived.popleft() for _ in range(len(self._arrived))])
            self._bury()

    def _stamp(self) -> None:
        # Entries first: whoever closed one has enqueued all that touches it, on streams that are enrolled by now.
        entries = [self._arrived.popleft() for _ in range(len(self._arrived))]
        if not entries:
            return
        try:
            fences = [stream._fence() for stream in [*self._enrolled, *self._orphans]]
        except BaseException:
            self._arrived.extendleft(reversed(entries))
            raise
        self._stamped.append((entries, [fence for fence in fences if fence is not None]))

    def _free(self, entries: list[Entry]) -> None:
        device = self._device()
        while entries:
            handle, kind, owner = entries.pop()
            if device is None or owner is not None:
                continue
            try:
                device._free(handle, kind)
            except BaseException:
                self._stamped.appendleft((entries, []))  # one that cannot be freed does not lose the others
                raise

    def _bury(self) -> None:
        for _ in range(len(self._orphans)):
            stream = self._orphans.popleft()
            if stream._fence() is None:
                stream._finish()
                stream._warn()
            else:
                self._orphans.append(stream)
