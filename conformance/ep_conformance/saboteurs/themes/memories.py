"""Saboteurs of memory: allocations that are not what they say, counts that are not what they count."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import ep
from ep_conformance.saboteurs.device import Handle, HonestDevice
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by

__all__ = [
    "CountsLooks",
    "HidesOutOfMemory",
    "NamesKindsItLacks",
    "OverlapsAllocations",
    "PromisesMoreThanThereIs",
    "ShowsTheHostACopy",
    "WrapsItsTable",
]

_PLACES: Final = 2048


class _OverlapsAllocations(HonestDevice):
    _page: ep.Memory | None = None
    _used = 0

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        step = self.info.alignment
        if nbytes > 8 * step:
            return super().allocate(nbytes, kind)
        if self._page is None or self._used + nbytes > self._page.nbytes:
            self._page, self._used = self.cpu.allocate(1 << 20), 0
        at = self._used
        self._used += max(step, (nbytes - 1) // step * step)
        self._given += nbytes
        return Handle(self._page[at : at + nbytes], kind)


@killed_by("runtime/memory/allocations-are-disjoint")
class OverlapsAllocations(HonestProvider):
    """Cut small allocations from a page, and round their lengths down in place of up, whole ones too."""

    device_type: ClassVar[type[HonestDevice]] = _OverlapsAllocations


class _WrapsItsTable(HonestDevice):
    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._given_out: list[Handle] = []

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        handle = super().allocate(nbytes, kind)
        self._given_out.append(handle)
        there = self._given_out[len(self._given_out) % _PLACES - 1]
        return there if there.nbytes == nbytes else handle


@killed_by("runtime/memory/thousands-of-allocations-are-disjoint")
class WrapsItsTable(HonestProvider):
    """Number allocations by eleven bits, and give what has the number already."""

    device_type: ClassVar[type[HonestDevice]] = _WrapsItsTable


class _HidesOutOfMemory(HonestDevice):
    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        return super().allocate(min(nbytes, self.info.memory // 64), kind)


@killed_by("runtime/error/out-of-memory-is-reported")
class HidesOutOfMemory(HonestProvider):
    """Give fewer bytes than were asked for, without an error."""

    device_type: ClassVar[type[HonestDevice]] = _HidesOutOfMemory


class _NamesKindsItLacks(HonestDevice):
    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        if kind is ep.MemoryKind.PINNED:
            message = f"{self.name} pins no memory"
            raise ep.UnsupportedError(message)
        return super().allocate(nbytes, kind)


@killed_by("runtime/memory/kinds-are-there-or-refused")
class NamesKindsItLacks(HonestProvider):
    """Name PINNED memory among info.memory_kinds, and give none."""

    device_type: ClassVar[type[HonestDevice]] = _NamesKindsItLacks


class _CountsLooks(HonestDevice):
    @property
    def native_calls(self) -> int:
        self.count_call()
        return super().native_calls


@killed_by("runtime/ability/native-calls")
class CountsLooks(HonestProvider):
    """Let native_calls advance each time that it is read."""

    device_type: ClassVar[type[HonestDevice]] = _CountsLooks


class _PromisesMoreThanThereIs(HonestDevice):
    def memory_info(self) -> tuple[int, int]:
        total, _ = super().memory_info()
        return total, total + 1


@killed_by("runtime/ability/memory-info")
class PromisesMoreThanThereIs(HonestProvider):
    """Say that more memory is free than there is."""

    device_type: ClassVar[type[HonestDevice]] = _PromisesMoreThanThereIs


class _ShowsTheHostACopy(HonestDevice):
    def host(self, handle: Handle, nbytes: int) -> memoryview:
        return memoryview(bytearray(super().host(handle, nbytes)))


@killed_by("runtime/ability/pinned-memory")
class ShowsTheHostACopy(HonestProvider):
    """Give the host a copy of pinned and shared memory."""

    device_type: ClassVar[type[HonestDevice]] = _ShowsTheHostACopy
