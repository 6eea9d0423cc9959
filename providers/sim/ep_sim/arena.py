"""Protected memory: an Arena holds the allocations of one device, and hands out addresses that fault."""

from __future__ import annotations

import bisect
import operator
import os
import random
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_sim.memory import Allocation

if TYPE_CHECKING:
    from ep_sim.device import SimDevice
    from ep_sim.native import Native

__all__ = ["ALIGNMENT", "Arena"]

ALIGNMENT: Final = 64  # less than a page and unlike other providers', so that no caller relies on more
FRESH: Final = 0xFF  # not a number in every floating type, -1 in every signed one
FREED: Final = 0xDD
_START: Final = operator.itemgetter(0)
_ROOM: Final = 64  # addresses for each byte of memory: so late is an address used again


class Arena:
    """Places allocations on pages of their own with a page between them, and uses an address again as late as it can.

    capacity : bytes that may be in use
    in_use   : bytes that are
    """

    def __init__(self, device: SimDevice, native: Native, cpu: ep.Device, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self.in_use = 0
        self._device = device
        self._native = native
        self._cpu = cpu
        self._page = int(native.lib.ep_page_size())
        self._reserve = _ROOM * max(capacity, 1 << 20)
        self._cursor = self._page
        self._live: list[tuple[int, int, Allocation]] = []  # start, end; sorted
        self._dice = random.Random(f"arena {seed}")  # noqa: S311 - places, not secrets
        # The native arena's turn. A handler may interrupt between two calls of it: an allocation that it makes or gives
        # back meanwhile changes `_placings`, and the search for a place begins again.
        self._turn = threading.RLock()
        self._placings = 0
        self._arena: Any = None  # made when it is first needed: listing devices makes none

    def take(self, nbytes: int, *, is_visible: bool) -> Allocation | None:
        """Return fresh memory full of FRESH, None if there is no room or the system has no pages or addresses for it.

        Raises UnavailableError if the system refuses the addresses altogether.
        """
        with self._turn:
            if nbytes > self.capacity - self.in_use:
                return None
            self.in_use += nbytes
            found = None
            try:
                self._open()
                found = self._map(nbytes, is_visible=is_visible)
            finally:
                if found is None:
                    self.in_use -= nbytes
        if found is not None:
            self._poison(found)
            found.memory = self._cpu.wrap_host(found.shadow, nbytes, self)
        return found

    def _open(self) -> None:
        if self._arena is not None:
            return
        native, name = self._native, self._device.name
        arena = native.lib.ep_arena_open(name.encode()[:31], self._reserve)
        if arena == native.ffi.NULL:
            reason = os.strerror(native.ffi.errno)
            message = f"{name}: the system refuses {self._reserve} bytes of addresses: {reason}"
            raise ep.UnavailableError(message)
        if self._arena is None:
            self._arena = arena
        else:
            native.lib.ep_arena_close(arena)

    def _map(self, nbytes: int, *, is_visible: bool) -> Allocation | None:
        span = -(-nbytes // self._page) * self._page
        # At the page's end or at its start: one way a step too far meets the guard, the other way a step too early.
        skipped = self._dice.choice((0, (span - nbytes) // ALIGNMENT * ALIGNMENT))
        found = Allocation(self._device, nbytes, (0, span, skipped), is_visible=is_visible)
        insort, is_placed = bisect.insort, False
        while not is_placed:
            placings, start = self._placings, self._place(span)
            if start is None:
                return None
            found.start, found.offset, entry = start, start + skipped, (start, start + span, found)
            if self._placings == placings:
                # No handler runs from that comparison on until the place is taken.
                self._placings, self._cursor, is_placed = placings + 1, start + span + self._page, True
                insort(self._live, entry)
        lib = self._native.lib
        found.slot = lib.ep_arena_map(self._arena, found.start, span, found.offset, nbytes, is_visible)
        if found.slot < 0:
            self._forget(found)
            return None
        found.address = lib.ep_arena_device(self._arena) + found.offset
        found.shadow = lib.ep_arena_shadow(self._arena) + found.offset
        return found

    def find(self, address: int) -> Allocation | None:
        """Return the allocation, or the rest of one, that begins at an address of the device view."""
        with self._turn:
            if self._arena is None:
                return None
            at = address - int(self._native.lib.ep_arena_device(self._arena))
            live = [*self._live]
            index = bisect.bisect_right(live, at, key=_START) - 1
            found = live[index][2] if index >= 0 else None
        if found is None or not 0 <= at - found.offset < found.nbytes:
            return None
        return found if at == found.offset else found.part(at - found.offset)

    def give(self, allocation: Allocation) -> int:
        """Protect the bytes for good and return how many around them, on their pages, were overwritten."""
        wrong = 0 if allocation.is_parked else self._count_overwritten(allocation)
        if allocation.memory is not None:
            allocation.memory.close()
        allocation.is_freed = True
        with self._turn:
            self._native.lib.ep_arena_unmap(self._arena, allocation.slot)
            self._forget(allocation)
            self.in_use -= allocation.nbytes
        return wrong

    def _forget(self, allocation: Allocation) -> None:
        """Leave the place of an allocation to others."""
        live, is_there = self._live, True
        while is_there:
            at = bisect.bisect_left(live, allocation.start, key=_START)
            with suppress(IndexError):
                if live[at][2] is allocation:  # else a handler moved it meanwhile
                    self._placings, is_there = self._placings + 1, False
                    del live[at]

    def park(self, allocation: Allocation) -> int:
        """Protect the bytes until they are allocated again, and return how many around them were overwritten."""
        wrong = self._count_overwritten(allocation)
        # Nothing comes in between an assignment and a native call.
        allocation.is_parked = True
        self._native.lib.ep_arena_park(self._arena, allocation.slot)
        return wrong

    def unpark(self, allocation: Allocation) -> None:
        """Open the bytes again, full of FRESH."""
        allocation.is_parked = False
        self._native.lib.ep_arena_unpark(self._arena, allocation.slot)
        self._poison(allocation)

    def spoil(self, allocation: Allocation) -> None:
        """Overwrite the bytes of an allocation that is still in use and must not be protected."""
        self._native.lib.ep_sim_fill(allocation.shadow, allocation.nbytes, bytes([FREED]), 1)

    def _poison(self, allocation: Allocation) -> None:
        pages = allocation.shadow - allocation.offset + allocation.start
        self._native.lib.ep_sim_fill(pages, allocation.span, bytes([FRESH]), 1)

    def _count_overwritten(self, allocation: Allocation) -> int:
        count = self._native.lib.ep_sim_count_others
        before = allocation.offset - allocation.start
        behind = allocation.span - before - allocation.nbytes
        end = allocation.shadow + allocation.nbytes
        return int(count(allocation.shadow - before, before, FRESH) + count(end, behind, FRESH))

    def close(self) -> None:
        """Give everything back to the system."""
        if self._arena is not None:
            self._native.lib.ep_arena_close(self._arena)
            self._arena = None

    def _place(self, span: int) -> int | None:
        """Return the next free run of addresses from the cursor on, with a page around it."""
        at, is_second_round, live = self._cursor, False, [*self._live]
        while True:
            index = bisect.bisect_right(live, at, key=_START)
            if index and live[index - 1][1] + self._page > at:
                at = live[index - 1][1] + self._page
            limit = live[index][0] if index < len(live) else self._reserve
            if at + span + self._page <= limit:
                return at
            if index < len(live):
                at = live[index][1] + self._page
            elif is_second_round:
                return None
            else:
                at, is_second_round = self._page, True
