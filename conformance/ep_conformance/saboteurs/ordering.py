"""Saboteurs whose streams, events and memories do not mean what they say."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

import ep
from ep_conformance.saboteurs.device import Handle, HonestDevice
from ep_conformance.saboteurs.event import HonestEvent
from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CopiesOutOfOrder",
    "CopiesThroughASmallBuffer",
    "CountsLooks",
    "FillsWholeLines",
    "HidesOutOfMemory",
    "HoldsKernelsAlone",
    "IgnoresWait",
    "OverlapsAllocations",
    "ReadsUploadsLate",
    "ReportsEventsEarly",
    "SharesArguments",
    "TimesInMilliseconds",
    "TimesTheEnqueue",
]

_LINE: Final = 64
_BUFFER: Final = 16 << 20


class _IgnoresWait(HonestStream):
    def _wait(self, event: ep.Event) -> None:
        del event


class IgnoresWait(HonestProvider):
    """Let wait(event) do nothing."""

    stream_type: ClassVar[type[HonestStream]] = _IgnoresWait


class _ReportsEventsEarly(HonestEvent):
    def _is_done(self) -> bool:
        return True


class ReportsEventsEarly(HonestProvider):
    """Let every event be done at once."""

    event_type: ClassVar[type[HonestEvent]] = _ReportsEventsEarly


class _ReadsUploadsLate(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._late: list[Callable[[], object]] = []
        super().__init__(*args, **options)

    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        self.enqueue(self._catch_up)
        if isinstance(src, memoryview) and isinstance(dst, ep.Memory):
            target, cpu = bytes_of(dst), self.cpu
            self.enqueue(lambda: self._late.append(lambda: cpu.upload(target, src)))
        else:
            super()._copy(dst, src, nbytes)

    def _fill(self, dst: ep.Memory, pattern: bytes) -> None:
        self.enqueue(self._catch_up)
        super()._fill(dst, pattern)

    def _synchronize(self) -> None:
        self.enqueue(self._catch_up)
        super()._synchronize()

    def _catch_up(self) -> None:
        for upload in self._late:
            upload()
        self._late.clear()


class ReadsUploadsLate(HonestProvider):
    """Read an upload's buffer when something else needs the stream, which may be after the upload's event is done."""

    stream_type: ClassVar[type[HonestStream]] = _ReadsUploadsLate


class _FillsWholeLines(HonestStream):
    def _fill(self, dst: ep.Memory, pattern: bytes) -> None:
        whole = dst.nbytes // _LINE * _LINE or dst.nbytes
        super()._fill(dst[:whole], pattern)


class FillsWholeLines(HonestProvider):
    """Fill whole lines of 64 bytes, and forget the tail."""

    stream_type: ClassVar[type[HonestStream]] = _FillsWholeLines


class _CopiesOutOfOrder(HonestStream):
    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory):
            cpu = self.device.cpu.stream()
            cpu.copy(bytes_of(dst), bytes_of(src))
            cpu.close()
        else:
            super()._copy(dst, src, nbytes)


class CopiesOutOfOrder(HonestProvider):
    """Copy inside the device at once, not when the stream gets there."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesOutOfOrder


class _TimesInMilliseconds(HonestEvent):
    def _seconds_since(self, earlier: ep.Event) -> float:
        return 1000 * super()._seconds_since(earlier)


class TimesInMilliseconds(HonestProvider):
    """Give device time in milliseconds."""

    event_type: ClassVar[type[HonestEvent]] = _TimesInMilliseconds


class _OverlapsAllocations(HonestDevice):
    _page: ep.Memory | None = None
    _used = 0

    def _allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        step = self.info.alignment
        if nbytes > 8 * step:
            return super()._allocate(nbytes, kind)
        if self._page is None or self._used + nbytes > self._page.nbytes:
            self._page, self._used = self.cpu.allocate(1 << 20), 0
        at = self._used
        self._used += max(step, (nbytes - 1) // step * step)
        return Handle(self._page[at : at + nbytes])


class OverlapsAllocations(HonestProvider):
    """Cut small allocations from a page, and round their lengths down in place of up, whole ones too."""

    device_type: ClassVar[type[HonestDevice]] = _OverlapsAllocations


class _HoldsKernelsAlone(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._awaited: list[ep.Event] = []
        super().__init__(*args, **options)

    def _wait(self, event: ep.Event) -> None:
        self._awaited.append(event)

    def enqueue(self, task: Callable[[], object]) -> None:
        awaited, self._awaited = self._awaited, []
        for event in awaited:
            super()._wait(event)
        super().enqueue(task)

    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        awaited, self._awaited = self._awaited, []
        super()._copy(dst, src, nbytes)
        self._awaited = awaited


class HoldsKernelsAlone(HonestProvider):
    """Let wait(event) hold back kernels and fills, but no copies."""

    stream_type: ClassVar[type[HonestStream]] = _HoldsKernelsAlone


class _CopiesThroughASmallBuffer(HonestStream):
    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        fits = min(nbytes, _BUFFER)
        super()._copy(dst[:fits], src[:fits], fits)


class CopiesThroughASmallBuffer(HonestProvider):
    """Copy no more than a staging buffer holds."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesThroughASmallBuffer


class _TimesTheEnqueue(HonestEvent):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._enqueued = time.perf_counter()

    def reach(self) -> None:
        self.at = self._enqueued
        self.reached.set()


class TimesTheEnqueue(HonestProvider):
    """Take the time of an event when it is enqueued, not when the stream gets there."""

    event_type: ClassVar[type[HonestEvent]] = _TimesTheEnqueue


class _CountsLooks(HonestDevice):
    @property
    def native_calls(self) -> int:
        self.count_call()
        return super().native_calls


class CountsLooks(HonestProvider):
    """Let native_calls advance each time that somebody reads it."""

    device_type: ClassVar[type[HonestDevice]] = _CountsLooks


class _HidesOutOfMemory(HonestDevice):
    def _allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        return super()._allocate(min(nbytes, self.info.memory // 64), kind)


class HidesOutOfMemory(HonestProvider):
    """Give what there is where more was asked for, and say nothing."""

    device_type: ClassVar[type[HonestDevice]] = _HidesOutOfMemory


class _SharesArguments(HonestKernel):
    _bound: tuple[tuple[ep.Memory, ...], tuple[Any, ...]]

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        self._bound = (memories, scalars)
        return lambda stream, *_: self.launch(stream, *self._bound)


class SharesArguments(HonestProvider):
    """Keep the arguments of all bound steps of a primitive in one place."""

    kernel_type: ClassVar[type[HonestKernel]] = _SharesArguments
