"""The Pool of a device: what was given back is kept for the next allocation of its size, in the order of streams."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.errors import OutOfMemoryError
from ep.memory import Block, MemoryKind
from ep.segment import Segment, Shelf

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep.allocator import Allocator
    from ep.segment import Freed

__all__ = ["MemoryInfo", "Pool"]

_MOST_RESERVED: Final = 2  # times the peak
_MOST_LENGTHS: Final = 4096


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
    """Segments of one device: those in use, those that lie ready on shelves, and how many bytes each are.

    Handles are opaque: no segment is split or joined, and one serves requests of its length only. What lies ready
    never lets more be reserved than twice what was in use at the peak. Its lock is held for counting alone: memory is
    allocated and freed without it.
    """

    def __init__(self, device: Allocator, *, parks: bool) -> None:
        self._device = device
        self._parks = parks
        # There while a segment is of its length, or a request of late was.
        self._shelves: weakref.WeakValueDictionary[tuple[MemoryKind, int], Shelf] = weakref.WeakValueDictionary()
        # By the length that was asked for, so that allocating computes no length.
        self._by_request: dict[MemoryKind, dict[int, Shelf]] = {kind: {} for kind in MemoryKind}
        self._listed: OrderedDict[Shelf, None] = OrderedDict()
        self._segments: set[Segment] = set()
        self._lock = threading.RLock()
        self.budget: int | None = None
        self.in_use = 0
        self.reserved = 0
        self.peak = 0
        self.hits = 0
        self.misses = 0

    # What allocating and closing call.

    def take(self, nbytes: int, kind: MemoryKind, freed: Freed | None = None) -> Segment:
        """Return a segment for `nbytes` bytes that no enqueued work touches.

        freed : what a stream has freed, for an allocation in its order: its work may still touch those bytes

        Raises OutOfMemoryError.
        """
        shelf = self._by_request[kind].get(nbytes)
        if shelf is None:
            if not nbytes:
                return self.lend(Segment(None, 0, kind))
            shelf = self._shelf(nbytes, kind)
        segment = self._take_ready(shelf, nbytes, freed)
        return self._grow(shelf, nbytes, kind) if segment is None else segment

    def lend(self, segment: Segment) -> Segment:
        """Take note of a segment that was not taken: it has no bytes, or they are an owner's."""
        with self._lock:
            self._segments.add(segment)
        return segment

    def offer(self, segment: Segment, freed: Freed) -> None:
        """Let the stream that freed a segment take it again before it passes the retire list."""
        shelf = segment.shelf
        if shelf is not None:
            with self._lock:
                segment.home = freed.setdefault(shelf, {})
                segment.home[segment] = None

    def put(self, segments: Iterable[Segment]) -> None:
        """Keep segments that no enqueued work touches any more; what an owner lent is let go."""
        with self._lock:
            for segment in segments:
                if segment.is_taken:
                    continue
                if segment.home is not None:
                    del segment.home[segment]
                    segment.home = None
                shelf = segment.shelf
                if shelf is None:
                    self._segments.discard(segment)
                    continue
                if self._parks:
                    self._device._park(segment.handle, segment.kind)
                self.in_use -= segment.nbytes
                segment.parked_at = self.hits
                shelf.ready.append(segment)
                if not shelf.is_listed:
                    shelf.is_listed, shelf.seen_at = True, self.hits
                    self._listed[shelf] = None

    # What reports and the end call.

    @property
    def cached(self) -> int:
        """Bytes that lie ready."""
        return self.reserved - self.in_use

    def blocks(self) -> list[Block]:
        """Return what is in use and can still be closed: open memories, and closed ones that somebody holds."""
        with self._lock:
            found = [(segment, segment.block()) for segment in self._segments if segment.block is not None]
        return [block for segment, block in found if block is not None and block.segment is segment]

    def trim(self, keep: int = 0) -> int:
        """Give segments that lie ready back to the provider, the longest unused first, until `keep` bytes are left.

        Returns the bytes that were given back. One that cannot be freed does not lose the others.
        """
        given = 0
        while self.cached > keep and (segment := self._oldest()) is not None:
            self._device._free(segment.handle, segment.kind)
            given += segment.nbytes
        return given

    def _shelf(self, nbytes: int, kind: MemoryKind) -> Shelf:
        """Return the shelf of a request's segments, and know it the next time."""
        shelf = self._shelf_of(self._device._segment_size(nbytes), kind)
        with self._lock:
            known = self._by_request[kind]
            if len(known) >= _MOST_LENGTHS:
                known.clear()
            known[nbytes] = shelf
        return shelf

    def _shelf_of(self, size: int, kind: MemoryKind) -> Shelf:
        with self._lock:
            shelf = self._shelves.get((kind, size))
            if shelf is None:
                shelf = self._shelves[kind, size] = Shelf(kind, size)
            return shelf

    def _take_ready(self, shelf: Shelf, nbytes: int, freed: Freed | None) -> Segment | None:
        with self._lock:
            again = freed.get(shelf) if freed else None
            if again:
                self.hits += 1
                return self._take_again(again.popitem()[0])
            if not shelf.ready:
                return None
            segment = shelf.ready.pop()
            self.hits += 1
            self.in_use = in_use = self.in_use + segment.nbytes
            if in_use > self.peak:  # noqa: PLR1730 - a call is a tenth of all that an allocation costs here
                self.peak = in_use
            if self._parks:
                self._device._unpark(segment.handle, nbytes, segment.kind)
            return segment

    def _take_again(self, old: Segment) -> Segment:
        # The old one stays in the retire list, where nobody can take it out, and passes it without effect.
        old.is_taken, old.home = True, None
        segment = Segment(old.handle, old.nbytes, old.kind, shelf=old.shelf)
        self._segments.discard(old)
        self._segments.add(segment)
        return segment

    def _grow(self, shelf: Shelf, nbytes: int, kind: MemoryKind) -> Segment:
        """Return a segment of the provider's; if memory is short, wait for what was closed and give back what lies ready."""
        try:
            self.trim(self._room(shelf.nbytes))
            return self._allocate(shelf)
        except OutOfMemoryError as error:
            # A driver that has room for all of it will not find more for what is a little shorter.
            may_fit = nbytes < shelf.nbytes and (error.free is None or error.free < shelf.nbytes)
            if not (may_fit or self.cached or self._device._has_closed()):
                error.requested = nbytes
                raise
        self._device._wait_for_closed()
        found = self._take_ready(shelf, nbytes, None)
        if found is None:
            self.trim()
            found = self._allocate(self._shelf_of(nbytes, kind))
        return found

    def _room(self, size: int) -> int:
        """Return how many bytes may lie ready beside a new segment."""
        with self._lock:
            needed = self.in_use + size
            room = _MOST_RESERVED * max(self.peak, needed) - needed
            return room if self.budget is None else min(room, max(self.budget - needed, 0))

    def _allocate(self, shelf: Shelf) -> Segment:
        nbytes = shelf.nbytes
        with self._lock:
            if self.budget is not None and self.reserved + nbytes > self.budget:
                raise self._over_budget(nbytes, self.budget)
            self.reserved += nbytes
        try:
            segment = Segment(self._device._allocate(nbytes, shelf.kind), nbytes, shelf.kind, shelf=shelf)
        except BaseException as error:
            with self._lock:
                self.reserved -= nbytes
                if isinstance(error, OutOfMemoryError) and error.reserved is None:
                    error.reserved = self.reserved
            raise
        with self._lock:
            self._segments.add(segment)
            self.misses += 1
            self.in_use += nbytes
            self.peak = max(self.peak, self.in_use)
        return segment

    def _over_budget(self, nbytes: int, budget: int) -> OutOfMemoryError:
        message = (
            f"{self._device.name}: {nbytes} bytes do not fit the budget of {budget}; {self.in_use} are in use and "
            f"{self.cached} lie ready; close memories, or raise device.budget"
        )
        return OutOfMemoryError(message, requested=nbytes, free=max(budget - self.reserved, 0), reserved=self.reserved)

    def _oldest(self) -> Segment | None:
        """Take out a segment that lies ready for a long time: a shelf that was used since the last look is passed over."""
        with self._lock:
            while self._listed:
                shelf = next(iter(self._listed))
                if not shelf.ready:
                    shelf.is_listed = False
                    del self._listed[shelf]
                elif shelf.ready[0].parked_at > shelf.seen_at:
                    shelf.seen_at = shelf.ready[0].parked_at
                    self._listed.move_to_end(shelf)
                else:
                    segment = shelf.ready.popleft()
                    self._segments.discard(segment)
                    self.reserved -= segment.nbytes
                    return segment
            return None
