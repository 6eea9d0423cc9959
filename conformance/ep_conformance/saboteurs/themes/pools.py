"""Saboteurs of the pool: devices whose allocator gives bytes out too soon, to the wrong stream, or twice, or miscounts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep.memory.pool import Pool
from ep.memory.retire import RetireList
from ep.memory.segment import Segment

import ep
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from ep.layout.memory_kind import MemoryKind
    from ep.memory.memory import Block
    from ep.memory.retire import Batch
    from ep.memory.segment import Freed

__all__ = ["CountsUpOnly", "GivesTwice", "OffersToEveryone", "ReusesAtOnce"]


class _HastyList(RetireList):
    def drain(self) -> None:
        self._gather()
        for batch in [*self._stamped]:
            batch.events = []
        self._pass()


class _ReusesAtOnce(ep.Device):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._retired = _HastyList(self._heap.pool)


@killed_by("runtime/program/allocations")
class ReusesAtOnce(HonestProvider):
    """Give the bytes of a closed memory out again although enqueued work still uses them."""

    host_device: ClassVar[type[ep.Device]] = _ReusesAtOnce


class _Pooling(ep.Device):
    pool_type: ClassVar[type[Pool]]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._heap.pool = self.pool_type(self)
        self._retired = RetireList(self._heap.pool)


class _OpenPool(Pool):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._everyones: Freed = {}

    def take(self, block: Block, kind: MemoryKind, freed: Freed | None = None) -> None:
        super().take(block, kind, None if freed is None else self._everyones)

    def free(self, block: Block, freed: Freed) -> None:
        del freed
        super().free(block, self._everyones)


class _OffersToEveryone(_Pooling):
    pool_type: ClassVar[type[Pool]] = _OpenPool


@killed_by("runtime/program/allocations")
class OffersToEveryone(HonestProvider):
    """Let any stream allocate at once what another has freed in its own order."""

    host_device: ClassVar[type[ep.Device]] = _OffersToEveryone


class _GenerousPool(Pool):
    _last: tuple[int, MemoryKind, Any] | None = None

    def take(self, block: Block, kind: MemoryKind, freed: Freed | None = None) -> None:
        last, self._last = self._last, None
        if last is not None and last[:2] == (block.nbytes, kind):
            self.lend(Segment(last[2], block.nbytes, kind), block)
            return
        super().take(block, kind, freed)
        self._last = block.nbytes, kind, block.handle


class _GivesTwice(_Pooling):
    pool_type: ClassVar[type[Pool]] = _GenerousPool


@killed_by("runtime/program/streams-and-events")
class GivesTwice(HonestProvider):
    """Give the same bytes to two that ask for as many, one after the other."""

    host_device: ClassVar[type[ep.Device]] = _GivesTwice


class _GrowingPool(Pool):
    def put(self, batch: Batch) -> None:
        before = self.in_use
        super().put(batch)
        self.in_use = before


class _CountsUpOnly(_Pooling):
    pool_type: ClassVar[type[Pool]] = _GrowingPool


@killed_by("runtime/injection/nth-allocation-fails")
class CountsUpOnly(HonestProvider):
    """Count what is allocated as in use, and never what comes back as free."""

    host_device: ClassVar[type[ep.Device]] = _CountsUpOnly
