"""Planted defects of reentry: what is half done when a signal handler or a finalizer comes in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

from ep.memory.pool import Pool
from ep.memory.retire import RetireList

import ep
from ep_conformance.saboteurs.device import Handle, HonestDevice
from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.memory.memory import Block
    from ep.memory.segment import Freed

__all__ = ["AllocatesUnderALock", "EnqueuesUnderALock", "SharesItsArguments"]


class _EnqueuesUnderALock(HonestStream):
    _lock: ClassVar = threading.Lock()

    def enqueue(self, task: Callable[[], object]) -> None:
        with self._lock:
            super().enqueue(task)


@killed_by("runtime/reentry/signal-handlers-may-use-the-device")
class EnqueuesUnderALock(HonestProvider):
    """Hold a lock that is not reentrant while enqueuing, so that a handler which comes in waits for ever."""

    stream_type: ClassVar[type[HonestStream]] = _EnqueuesUnderALock


class _AllocatesUnderALock(HonestDevice):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._allocating = threading.Lock()

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        with self._allocating:
            return super().allocate(nbytes, kind)


class _EmptyPool(Pool):
    def take(self, block: Block, kind: ep.MemoryKind, freed: Freed | None = None) -> None:
        self.trim()  # so that every allocation comes to the provider
        super().take(block, kind, freed)


class _WithoutPool(ep.Device):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._heap.pool = _EmptyPool(self)
        self._retired = RetireList(self._heap.pool)


@killed_by("runtime/reentry/signal-handlers-may-use-the-device")
class AllocatesUnderALock(HonestProvider):
    """Hold a lock that is not reentrant while allocating."""

    host_device: ClassVar[type[ep.Device]] = _WithoutPool
    device_type: ClassVar[type[HonestDevice]] = _AllocatesUnderALock


@killed_by("runtime/reentry/signal-handlers-may-use-the-device")
class SharesItsArguments(ArrayKernel):
    """Set the arguments of one kernel object for all launches, where a handler's launch may come between setting and enqueuing."""

    _arguments: tuple[Any, ...] = ()

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        self._arguments = memories
        stream.ledger.device.native_calls  # noqa: B018 - a call of the driver, in which a handler may come
        for _ in range(20):
            str(self)
        super().launch(stream, self._arguments, scalars)
