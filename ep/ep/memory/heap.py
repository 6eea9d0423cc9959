"""A Heap is where a device's memory comes from: requests are checked here, and served by the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from ep.errors import UnsupportedError
from ep.ground.glimpse import glimpse
from ep.integers import count
from ep.layout.memory_kind import MemoryKind
from ep.memory.memory import Block, Memory
from ep.memory.pool import MemoryInfo, Pool

if TYPE_CHECKING:
    from ep.memory.segment import Freed
    from ep.stream.device import Device

__all__ = ["Heap"]

_END: Final = 2**63
_MOST_ARRIVED: Final = 64
"""Memories that a stream frees and takes again before events are recorded for those that wait to come back to the pool."""


class Heap:
    """The memory of one device. Closed memories wait in the device's retire list until they come back here.

    pool : the segments that the provider allocated, in use or ready
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.pool = Pool(device)

    def allocate(self, nbytes: int, kind: MemoryKind, freed: Freed | None = None) -> Memory:
        """Return memory; see Device.allocate.

        freed : for an allocation in the order of a stream, the memories that the stream has freed
        """
        device = self._device
        device._require_open("allocate")
        if type(nbytes) is not int or not 0 <= nbytes < _END:
            nbytes = count("allocate: nbytes", nbytes)
        if type(kind) is not MemoryKind or kind not in device.info.memory_kinds:
            self._refuse(kind)
        block, retired = Block(device, nbytes), device._retired
        if freed is None or len(retired.arrived) >= _MOST_ARRIVED or not self.pool.take_again(block, kind, freed):
            retired.drain()
            self.pool.take(block, kind, freed)
        return Memory(block, 0, nbytes, is_view=False)

    def info(self) -> MemoryInfo:
        """Return the figures of the memory. Memory that no stream can touch any more is not in use."""
        device, pool = self._device, self.pool
        device._retired.drain()
        total: int | None
        free: int | None
        try:
            total, free = device.twin.memory_info()
        except UnsupportedError:
            total, free = device.info.memory or None, None
        figures = pool.in_use, pool.reserved, pool.peak, pool.hits, pool.misses
        return MemoryInfo(total, free, *figures, budget=pool.budget, workspace=device.twin.workspace_nbytes)

    def trim(self) -> int:
        """Return the unused segments to the provider, and return their bytes."""
        self._device._retired.drain()
        return self.pool.trim()

    def limit(self, budget: int | None) -> None:
        """Let at most so many bytes be reserved, None for no limit; unused segments beyond it are given back."""
        if budget is not None:
            budget = count("budget: nbytes", budget)
            self._device._retired.drain()
            self.pool.trim(max(budget - self.pool.in_use, 0))
        self.pool.budget = budget

    def _refuse(self, kind: Any) -> NoReturn:
        if not isinstance(kind, MemoryKind):
            message = f"allocate: kind {glimpse(kind)} is not a MemoryKind"
            raise TypeError(message)
        there = ", ".join(sorted(each.name for each in self._device.info.memory_kinds))
        message = f"allocate: {self._device.name} has no memory of kind {kind.name}; there is {there}"
        raise UnsupportedError(message)
