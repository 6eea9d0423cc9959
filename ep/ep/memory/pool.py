"""The Pool of a device keeps freed segments for the next allocation of their size, in the order of streams."""

from __future__ import annotations

import warnings
import weakref
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.errors import OutOfMemoryError
from ep.ground.words import said
from ep.layout.memory_kind import MemoryKind
from ep.memory.segment import OWNERSHIP, Row, Segment, Shelf
from ep.spi.device import Device as SpiDevice

if TYPE_CHECKING:
    from ep.memory.memory import Block
    from ep.memory.retire import Batch
    from ep.memory.segment import Freed
    from ep.stream.device import Device

__all__ = ["MemoryInfo", "Pool"]

_MOST_RESERVED: Final = 2  # times the peak
_MOST_LENGTHS: Final = 4096


class MemoryInfo(NamedTuple):
    """Figures of a device's memory, in bytes but for the two counts.

    total     : of the device, None if it cannot tell
    free      : what the device itself could still give, None if it cannot tell
    in_use    : of memories that are open, or closed while enqueued work may touch them; in whole segments
    reserved  : allocated by the provider and not yet freed: in use, or kept for the next allocation
    peak      : the most that was in use at one time
    hits      : allocations that the pool served from what it had
    misses    : allocations that the provider served
    budget    : the most that may be reserved, None for no limit
    workspace : kept by the provider's own workers beside `reserved`, such as the panels of a core
    """

    total: int | None
    free: int | None
    in_use: int
    reserved: int
    peak: int
    hits: int
    misses: int
    budget: int | None
    workspace: int


class Pool:
    """Segments of one device: those in use, those that lie ready on shelves, and how many bytes each are.

    Handles are opaque: no segment is split or joined, and each serves requests of its length only. Ready segments are
    kept only while at most twice the peak in use is reserved. A segment always belongs to one block, row or list.
    Moving it is a few assignments, so that a handler or Ctrl-C in between neither loses nor doubles it.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        kind = type(device.twin)
        self._parks = kind.park is not SpiDevice.park or kind.unpark is not SpiDevice.unpark
        # A shelf exists while a segment has its length, or a recent request had.
        self._shelves: weakref.WeakValueDictionary[tuple[MemoryKind, int], Shelf] = weakref.WeakValueDictionary()
        # By the length that was asked for, so that allocating computes no length.
        self._by_request: dict[MemoryKind, dict[int, Shelf]] = {kind: {} for kind in MemoryKind}
        self._listed: deque[Shelf] = deque()
        self._segments: set[Segment] = set()
        self._has_warned = False  # of a segment that could not be freed
        self.budget: int | None = None
        self.in_use = 0
        self.reserved = 0
        self.peak = 0
        self.hits = 0
        self.misses = 0

    # Called by allocating and closing.

    def take(self, block: Block, kind: MemoryKind, freed: Freed | None = None) -> None:
        """Give a block a segment for its bytes that no enqueued work touches.

        freed : for an allocation in a stream's order, the segments that the stream freed and its work may still touch

        Raises OutOfMemoryError.
        """
        shelf = self._by_request[kind].get(block.nbytes)
        if shelf is None:
            if not block.nbytes:
                self.lend(Segment(None, 0, kind), block)
                return
            shelf = self._shelf(block.nbytes, kind)
        if not (freed and self._take_again(shelf, block, freed)) and not self._take_ready(shelf, block):
            self._grow(shelf, block, kind)

    def take_again(self, block: Block, kind: MemoryKind, freed: Freed) -> bool:
        """Give a block a segment of its length that the stream freed, and return True, if there is one."""
        shelf = self._by_request[kind].get(block.nbytes)
        return shelf is not None and self._take_again(shelf, block, freed)

    def lend(self, segment: Segment, block: Block) -> None:
        """Give a block a segment that was not taken: it has no bytes, or they are an owner's."""
        lease_ref = block.lease_ref
        self._segments.add(segment)
        with OWNERSHIP.lock:
            lease_ref.segment, block.handle, block.kind = segment, segment.handle, segment.kind
            segment.lease_ref = lease_ref

    def free(self, block: Block, freed: Freed) -> None:
        """Close a block. If nothing else holds the lease, the stream that frees it may take its bytes again first.

        The stream is inside a verb: until that ends, the retire list lets nothing pass.
        """
        lease_ref = block.lease_ref
        block.close()
        segment = lease_ref.segment
        if segment is None or segment.shelf is None or lease_ref() is not None:
            return
        row = freed.setdefault(segment.shelf, Row())
        with OWNERSHIP.lock:
            if lease_ref.segment is segment and segment.before is None:
                last = row.before
                segment.before, segment.behind = last, row
                last.behind = row.before = segment

    def put(self, batch: Batch) -> None:
        """Keep the segments of a batch, which no enqueued work touches any more; drop segments that an owner lent.

        A call that was interrupted is continued by the next one.
        """
        leases = batch.leases
        while (done := batch.done) < len(leases):
            lease_ref = leases[done]
            segment = lease_ref.segment
            if segment is None:  # it never got any bytes: allocating them failed
                with OWNERSHIP.lock:
                    if batch.done == done:
                        batch.done = done + 1
                continue
            shelf = segment.shelf
            with OWNERSHIP.lock:
                before, behind = segment.before, segment.behind
                if (
                    before is not None and batch.done == done
                ):  # from now on the stream that freed it cannot take it again
                    before.behind, behind.before = behind, before
                    segment.before = segment.behind = None
            if self._parks and shelf is not None and not (segment.is_parked or segment.is_taken):
                segment.is_parked = True  # before, so that Ctrl-C inside does not make it happen twice
                self._device.twin.park(segment.handle, segment.kind)
            with OWNERSHIP.lock:
                if batch.done != done:  # somebody at the end of the process came in
                    continue
                batch.done = done + 1
                lease_ref.segment = None
                if shelf is not None and not segment.is_taken:
                    last = shelf.before
                    segment.before, segment.behind = last, shelf
                    last.behind = shelf.before = segment
                    segment.parked_at = self.hits
                    self.in_use -= segment.nbytes
                is_listed = shelf is None or shelf.is_listed
            if shelf is None:
                self._segments.discard(segment)
            elif not is_listed:
                # First: a shelf that stands here twice is harmless, one that does not is never looked at.
                self._listed.append(shelf)
                shelf.is_listed, shelf.seen_at = True, self.hits

    # What reports and the end call.

    @property
    def cached(self) -> int:
        """Bytes that lie ready."""
        return self.reserved - self.in_use

    def blocks(self) -> list[Block]:
        """Return the blocks in use that can still be closed: of open memories, and of closed ones with a held lease."""
        refs = [segment.lease_ref for segment in [*self._segments]]
        return [
            block for each in refs if each is not None and each() is not None and (block := each.block()) is not None
        ]

    def trim(self, keep: int = 0) -> int:
        """Give segments that lie ready back to the provider, the longest unused first, until `keep` bytes are left.

        Returns the bytes that were given back, or that could not be freed.
        """
        given = 0
        while self.cached > keep and (segment := self._oldest()) is not None:
            self._segments.discard(segment)
            self._free(segment)
            given += segment.nbytes
        return given

    def _free(self, segment: Segment) -> None:
        """Let the provider free a segment. Its first exception becomes a warning, later ones are dropped."""
        try:
            self._device.twin.free(segment.handle, segment.kind)
        except Exception as error:  # noqa: BLE001 - a stranger's code, and whoever is here did not ask for it
            if self._has_warned:
                return
            self._has_warned = True
            message = f"{self._device.name}: memory could not be freed, which is said once: {said(error)}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _shelf(self, nbytes: int, kind: MemoryKind) -> Shelf:
        """Return the shelf of a request's segments, and know it the next time."""
        shelf = self._shelf_of(self._device.twin.segment_size(nbytes), kind)
        known = self._by_request[kind]
        if len(known) >= _MOST_LENGTHS:
            known.clear()
        return known.setdefault(nbytes, shelf)

    def _shelf_of(self, size: int, kind: MemoryKind) -> Shelf:
        return self._shelves.get((kind, size)) or self._shelves.setdefault((kind, size), Shelf(kind, size))

    def _take_ready(self, shelf: Shelf, block: Block) -> bool:
        lease_ref = block.lease_ref
        with OWNERSHIP.lock:
            segment = shelf.before
            if segment is shelf:
                return False
            before = segment.before
            before.behind, shelf.before = shelf, before
            segment.before = segment.behind = None
            lease_ref.segment, block.handle, block.kind = segment, segment.handle, segment.kind
            segment.lease_ref = lease_ref
            self.hits += 1
            self.in_use = in_use = self.in_use + segment.nbytes
            if in_use > self.peak:  # noqa: PLR1730 - no call under a lock
                self.peak = in_use
        if self._parks:
            self._device.twin.unpark(segment.handle, block.nbytes, segment.kind)
            segment.is_parked = False
        return True

    def _take_again(self, shelf: Shelf, block: Block, freed: Freed) -> bool:
        row = freed.get(shelf)
        if row is None or row.before is row:
            return False
        # The old one stays in the retire list, where nobody can take it out, and passes it without effect.
        segment = Segment(None, shelf.nbytes, shelf.kind, shelf=shelf)
        lease_ref = block.lease_ref
        with OWNERSHIP.lock:
            old = row.before
            if old is row:
                return False
            before = old.before
            before.behind, row.before = row, before
            old.is_taken, old.before, old.behind = True, None, None
            segment.handle = old.handle
            lease_ref.segment, block.handle, block.kind = segment, segment.handle, segment.kind
            segment.lease_ref = lease_ref
            self.hits += 1
        self._segments.add(segment)
        self._segments.discard(old)
        return True

    def _grow(self, shelf: Shelf, block: Block, kind: MemoryKind) -> None:
        """Let the provider allocate a segment. If memory is short, wait for closed memories and free ready segments."""
        try:
            self.trim(self._room(shelf.nbytes))
            self._allocate(shelf, block)
        except OutOfMemoryError as error:
            # After a refusal a slightly shorter segment would hardly fit either.
            may_fit = block.nbytes < shelf.nbytes and (error.free is None or error.free < shelf.nbytes)
            if not (may_fit or self.cached or len(self._device._retired)):
                error.requested = block.nbytes
                raise
        else:
            return
        self._device._retired.recall()
        if not self._take_ready(shelf, block):
            self.trim()
            self._allocate(self._shelf_of(block.nbytes, kind), block)

    def _room(self, size: int) -> int:
        """Return how many bytes may lie ready beside a new segment."""
        needed = self.in_use + size
        room = _MOST_RESERVED * max(self.peak, needed) - needed
        return room if self.budget is None else min(room, max(self.budget - needed, 0))

    def _allocate(self, shelf: Shelf, block: Block) -> None:
        nbytes = shelf.nbytes
        with OWNERSHIP.lock:
            budget = self.budget
            fits = budget is None or self.reserved + nbytes <= budget
            if fits:
                self.reserved += nbytes
        if budget is not None and not fits:
            raise self._over_budget(nbytes, budget)
        try:
            handle = self._device.twin.allocate(nbytes, shelf.kind)
        except BaseException as error:
            self.reserved -= nbytes
            if isinstance(error, OutOfMemoryError):
                error.provider = error.provider or self._device.name.partition(":")[0]
                error.reserved = self.reserved if error.reserved is None else error.reserved
            raise
        segment = Segment(handle, nbytes, shelf.kind, shelf=shelf)
        lease_ref = block.lease_ref
        self._segments.add(segment)
        lease_ref = block.lease_ref
        with OWNERSHIP.lock:
            lease_ref.segment, block.handle, block.kind = segment, segment.handle, segment.kind
            segment.lease_ref = lease_ref
            self.misses += 1
            self.in_use = in_use = self.in_use + nbytes
            if in_use > self.peak:  # noqa: PLR1730 - no call under a lock
                self.peak = in_use

    def _over_budget(self, nbytes: int, budget: int) -> OutOfMemoryError:
        message = (
            f"{self._device.name}: {nbytes} bytes do not fit the budget of {budget}; {self.in_use} are in use and "
            f"{self.cached} lie ready; close memories, or raise device.budget"
        )
        return OutOfMemoryError(message, requested=nbytes, free=max(budget - self.reserved, 0), reserved=self.reserved)

    def _oldest(self) -> Segment | None:
        """Take out a segment that lies ready for a long time: a shelf that was used since the last look is passed over."""
        listed = self._listed
        while listed:
            try:
                shelf = listed[0]
            except IndexError:  # taken out meanwhile
                return None
            with OWNERSHIP.lock:
                segment = shelf.behind
                is_used = segment is not shelf and segment.parked_at > shelf.seen_at
                if segment is shelf:
                    shelf.is_listed = False
                elif is_used:
                    shelf.seen_at = segment.parked_at
                else:
                    behind = segment.behind
                    behind.before, shelf.behind = shelf, behind
                    segment.before = segment.behind = None
                    self.reserved -= segment.nbytes
            if segment is shelf:
                with suppress(ValueError):  # taken out meanwhile
                    listed.remove(shelf)
            elif is_used:
                listed.rotate(-1)
            else:
                found: Segment = segment
                return found
        return None
