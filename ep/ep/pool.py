"""The Pool of a device: what was given back is kept for the next allocation of its size, in the order of streams."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.errors import OutOfMemoryError
from ep.memory import Block, MemoryKind, Segment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep.allocator import Allocator

__all__ = ["Freed", "MemoryInfo", "Pool"]

Key = tuple[MemoryKind, int]
Freed = dict[Key, dict[Segment, None]]
"""What a stream has freed and may take again, by kind and length."""

_MOST_RESERVED: Final = 2  # times the peak


class MemoryInfo(NamedTuple):
    """What became of a device's memory, in bytes but for the two counts.

    total     : of the device, None if it cannot tell
    free      : what the device itself could still give, None if it cannot tell
    in_use    : of memories that are open, or closed while enqueued work may touch them; in whole segments
    reserved  : what the provider gave and has not got back: in use, or kept for the next allocation
    peak      : the most that was in use at one time
    hits      : allocations that the pool served from what it had
    misses    : allocations that the provider served
    budget    : the most that may be reserved, None for no limit
    """

    total: int | None
    free: int | None
    in_use: int
    reserved: int
    peak: int
    hits: int
    misses: int
    budget: int | None


class Pool:
    """Segments of one device: those in use, those that lie ready, and how many bytes each are.

    Handles are opaque: no segment is split or joined, and one serves requests of its length only. What lies ready
    never lets more be reserved than twice what was in use at the peak. Its lock is held for counting alone: drivers
    are called without it.
    """

    def __init__(self, device: Allocator, *, parks: bool) -> None:
        self._device = device
        self._ready: dict[Key, deque[Segment]] = {}
        self._lent: set[Segment] = set()
        self._lock = threading.RLock()
        self._parks = parks
        self.budget: int | None = None
        self.in_use = 0
        self.reserved = 0
        self.peak = 0
        self.hits = 0
        self.misses = 0

    # What allocating calls.

    def take(self, nbytes: int, kind: MemoryKind, freed: Freed | None = None) -> Segment:
        """Return a segment for `nbytes` bytes that no enqueued work touches.

        freed : what a stream has freed, for an allocation in its order: its work may still touch those bytes

        Raises OutOfMemoryError.
        """
        if not nbytes:
            return self.lend(Segment(None, 0, kind))
        size = self._device._segment_size(nbytes)
        found = self._take_ready(nbytes, (kind, size), freed)
        return self._grow(nbytes, size, kind) if found is None else found

    def lend(self, segment: Segment) -> Segment:
        """Note that a segment is in use that was not taken: it has no bytes, or they are an owner's."""
        with self._lock:
            self._lent.add(segment)
        return segment

    def offer(self, segment: Segment, freed: Freed) -> None:
        """Let the stream that freed a segment take it again before it passes the retire list."""
        if segment.owner is None and segment.nbytes:
            with self._lock:
                segment.home = freed.setdefault((segment.kind, segment.nbytes), {})
                segment.home[segment] = None

    def put(self, segments: Iterable[Segment]) -> None:
        """Keep segments that no enqueued work touches any more; what an owner lent is let go."""
        with self._lock:
            passed = [segment for segment in segments if self._passes(segment)]
        if self._parks:
            for segment in passed:
                self._device._park(segment.handle, segment.kind)
        with self._lock:
            for segment in passed:
                self.in_use -= segment.nbytes
                segment.parked_at = self.hits + self.misses
                key = (segment.kind, segment.nbytes)
                ready = self._ready.get(key)
                if ready is None:
                    ready = self._ready[key] = deque()
                ready.append(segment)

    # What reports and closing call.

    @property
    def cached(self) -> int:
        """Bytes that lie ready."""
        return self.reserved - self.in_use

    def blocks(self) -> list[Block]:
        """Return what is in use and can still be closed: open memories, and closed ones that somebody holds."""
        with self._lock:
            found = [segment.block() for segment in self._lent if segment.block is not None]
        return [block for block in found if block is not None and block.segment is not None]

    def trim(self, keep: int = 0) -> int:
        """Give segments that lie ready back to the provider, the longest unused first, until `keep` bytes are left.

        Returns the bytes that were given back. One that cannot be freed does not lose the others.
        """
        given = 0
        while (segment := self._oldest(keep)) is not None:
            self._device._free(segment.handle, segment.kind)
            given += segment.nbytes
        return given

    def _passes(self, segment: Segment) -> bool:
        """Take a segment out of all that knows it as used; True if it is to lie ready."""
        if segment.is_taken:
            return False
        if segment.home is not None:
            del segment.home[segment]
            segment.home = None
        self._lent.discard(segment)
        return segment.owner is None and segment.nbytes > 0

    def _take_ready(self, nbytes: int, key: Key, freed: Freed | None) -> Segment | None:
        with self._lock:
            again = freed.get(key) if freed else None
            if again:
                self.hits += 1
                return self._take_again(again.popitem()[0])
            ready = self._ready.get(key)
            if not ready:
                return None
            self.hits += 1
            segment = ready.pop()
            self._count(segment)
        if self._parks:
            self._device._unpark(segment.handle, nbytes, segment.kind)
        return segment

    def _take_again(self, old: Segment) -> Segment:
        # The old one stays in the retire list, where nobody can take it out, and passes it without effect.
        old.is_taken, old.home = True, None
        segment = Segment(old.handle, old.nbytes, old.kind)
        self._lent.discard(old)
        self._lent.add(segment)
        return segment

    def _count(self, segment: Segment) -> None:
        self._lent.add(segment)
        self.in_use += segment.nbytes
        self.peak = max(self.peak, self.in_use)

    def _grow(self, nbytes: int, size: int, kind: MemoryKind) -> Segment:
        """Return a segment from the provider; if memory is short, wait for what was closed and give back what lies ready."""
        try:
            self.trim(self._room(size))
            return self._allocate(size, kind)
        except OutOfMemoryError as error:
            # A driver that has room for all of it will not find more room for what is a little shorter.
            may_fit = nbytes < size and (error.free is None or error.free < size)
            if not (may_fit or self.cached or self._device._has_closed()):
                error.requested = nbytes
                raise
        self._device._wait_for_closed()
        found = self._take_ready(nbytes, (kind, size), None)
        if found is None:
            self.trim()
            found = self._allocate(nbytes, kind)
        return found

    def _room(self, size: int) -> int:
        """Return how many bytes may lie ready beside a new segment."""
        with self._lock:
            needed = self.in_use + size
            room = _MOST_RESERVED * max(self.peak, needed) - needed
            return room if self.budget is None else min(room, max(self.budget - needed, 0))

    def _allocate(self, nbytes: int, kind: MemoryKind) -> Segment:
        with self._lock:
            if self.budget is not None and self.reserved + nbytes > self.budget:
                raise self._over_budget(nbytes, self.budget)
            self.reserved += nbytes
        try:
            segment = Segment(self._device._allocate(nbytes, kind), nbytes, kind)
        except BaseException as error:
            with self._lock:
                self.reserved -= nbytes
                if isinstance(error, OutOfMemoryError) and error.reserved is None:
                    error.reserved = self.reserved
            raise
        with self._lock:
            self.misses += 1
            self._count(segment)
        return segment

    def _over_budget(self, nbytes: int, budget: int) -> OutOfMemoryError:
        message = (
            f"{self._device.name}: {nbytes} bytes do not fit the budget of {budget}; {self.in_use} are in use and "
            f"{self.cached} lie ready; close memories, or raise device.budget"
        )
        return OutOfMemoryError(message, requested=nbytes, free=max(budget - self.reserved, 0), reserved=self.reserved)

    def _oldest(self, keep: int) -> Segment | None:
        """Take out the segment that lies ready for the longest time, None if no more than `keep` bytes do."""
        with self._lock:
            kept = [ready for ready in self._ready.values() if ready] if self.cached > keep else []
            if not kept:
                return None
            segment = min(kept, key=_parked_at).popleft()
            self.reserved -= segment.nbytes
            return segment


def _parked_at(ready: deque[Segment]) -> int:
    return ready[0].parked_at
