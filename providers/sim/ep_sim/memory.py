"""Protected memory: an Arena holds the allocations of one device, and hands out addresses that nobody may touch."""

from __future__ import annotations

import bisect
import operator
import os
import random
from typing import TYPE_CHECKING, Final

import ep

if TYPE_CHECKING:
    from ep_sim.device import SimDevice
    from ep_sim.native import Native

__all__ = ["ALIGNMENT", "FREED", "FRESH", "Allocation", "Arena"]

ALIGNMENT: Final = 64  # less than a page and unlike other providers', so that nobody counts on more
FRESH: Final = 0xFF  # not a number in every floating type, -1 in every signed one
FREED: Final = 0xDD
_START: Final = operator.itemgetter(0)
_ROOM: Final = 64  # addresses for each byte of memory: so late is an address used again


class Allocation:
    """The handle of a memory: opaque, and its address faults.

    address  : of the first byte in the device view, which the host must not touch
    shadow   : of the first byte in the shadow view, for workers alone
    memory   : the same bytes as a Memory of the CPU's device, for its kernels
    whole    : the allocation that this is a part of, or itself
    touches  : how many unfinished tasks use the whole; guarded by the scheduler's lock
    """

    __slots__ = (
        "address",
        "device",
        "memory",
        "nbytes",
        "offset",
        "shadow",
        "slot",
        "span",
        "start",
        "touches",
        "whole",
    )

    def __init__(self, device: SimDevice, nbytes: int, place: tuple[int, int, int]) -> None:
        self.device = device
        self.nbytes = nbytes
        self.start, self.span, self.offset = place
        self.touches = 0
        self.address = self.shadow = self.slot = 0
        self.memory: ep.Memory | None = None
        self.whole = self

    def part(self, skipped: int) -> Allocation:
        """Return what begins `skipped` bytes later."""
        assert self.memory is not None
        found = Allocation(self.device, self.nbytes - skipped, (self.start, self.span, self.offset + skipped))
        found.address, found.shadow, found.slot = self.address + skipped, self.shadow + skipped, self.slot
        found.memory, found.whole = self.memory[skipped:], self
        return found

    def __repr__(self) -> str:
        return f"<Allocation {self.nbytes} bytes at {self.address:#x} of {self.device.name}>"


class Arena:
    """Places allocations on pages of their own with a page between them, and uses an address again as late as it can."""

    def __init__(self, device: SimDevice, native: Native, cpu: ep.Device, capacity: int, seed: int) -> None:
        self._device = device
        self._native = native
        self._cpu = cpu
        self._page = int(native.lib.ep_page_size())
        self._reserve = _ROOM * max(capacity, 1 << 20)
        self._cursor = self._page
        self._live: list[tuple[int, int, Allocation]] = []  # start, end; sorted
        self._dice = random.Random(f"arena {device.name} {seed}")  # noqa: S311 - places, not secrets
        self._arena = native.lib.ep_arena_open(device.name.encode()[:31], self._reserve)
        if self._arena == native.ffi.NULL:
            message = (
                f"{device.name}: the system refuses {self._reserve} bytes of addresses: {os.strerror(native.ffi.errno)}"
            )
            raise ep.UnavailableError(message)

    def take(self, nbytes: int) -> Allocation | None:
        """Return fresh memory full of FRESH, None if the system has no pages or addresses for it."""
        span = -(-nbytes // self._page) * self._page
        start = self._place(span)
        if start is None:
            return None
        # At the page's end or at its start: one way a step too far meets the guard, the other way a step too early.
        slack = (span - nbytes) // ALIGNMENT * ALIGNMENT
        found = Allocation(self._device, nbytes, (start, span, start + self._dice.choice((0, slack))))
        lib = self._native.lib
        found.slot = lib.ep_arena_map(self._arena, start, span, found.offset, nbytes)
        if found.slot < 0:
            return None
        bisect.insort(self._live, (start, start + span, found))
        self._cursor = start + span + self._page
        found.address = lib.ep_arena_device(self._arena) + found.offset
        found.shadow = lib.ep_arena_shadow(self._arena) + found.offset
        lib.ep_sim_fill(found.shadow - found.offset + start, span, bytes([FRESH]), 1)
        found.memory = self._cpu.wrap_host(found.shadow, nbytes, self)
        return found

    def find(self, address: int) -> Allocation | None:
        """Return the allocation, or the rest of one, that begins at an address of the device view."""
        at = address - int(self._native.lib.ep_arena_device(self._arena))
        index = bisect.bisect_right(self._live, at, key=_START) - 1
        found = self._live[index][2] if index >= 0 else None
        if found is None or not 0 <= at - found.offset < found.nbytes:
            return None
        return found if at == found.offset else found.part(at - found.offset)

    def give(self, allocation: Allocation) -> int:
        """Protect the bytes again and return how many around them, on their pages, were overwritten."""
        lib = self._native.lib
        before = allocation.offset - allocation.start
        behind = allocation.span - before - allocation.nbytes
        wrong = lib.ep_sim_count_others(allocation.shadow - before, before, FRESH)
        wrong += lib.ep_sim_count_others(allocation.shadow + allocation.nbytes, behind, FRESH)
        if allocation.memory is not None:
            allocation.memory.close()
        del self._live[bisect.bisect_left(self._live, allocation.start, key=_START)]
        lib.ep_arena_unmap(self._arena, allocation.slot)
        return int(wrong)

    def spoil(self, allocation: Allocation, byte: int) -> None:
        """Overwrite the bytes of an allocation that stays mapped: it is still in use, or the pool keeps it."""
        self._native.lib.ep_sim_fill(allocation.shadow, allocation.nbytes, bytes([byte]), 1)

    def close(self) -> None:
        """Give everything back to the system."""
        self._native.lib.ep_arena_close(self._arena)

    def _place(self, span: int) -> int | None:
        """Return the next free run of addresses from the cursor on, with a page around it."""
        at, is_second_round = self._cursor, False
        while True:
            index = bisect.bisect_right(self._live, at, key=_START)
            if index and self._live[index - 1][1] + self._page > at:
                at = self._live[index - 1][1] + self._page
            limit = self._live[index][0] if index < len(self._live) else self._reserve
            if at + span + self._page <= limit:
                return at
            if index < len(self._live):
                at = self._live[index][1] + self._page
            elif is_second_round:
                return None
            else:
                at, is_second_round = self._page, True
