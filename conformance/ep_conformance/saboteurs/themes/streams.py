"""Saboteurs of streams: idle, synchronised or closed before their work is done."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "AbandonsDroppedStreams",
    "AbandonsTimedOutStreams",
    "ClosesAtOnce",
    "IsIdleEarly",
    "SynchronizesAtOnce",
    "TakesForeignMemory",
]


class _IsIdleEarly(HonestStream):
    _begun = 0

    def enqueue(self, task: Callable[[], object]) -> None:
        def begin() -> None:
            self._begun += 1
            task()

        super().enqueue(begin)

    def is_idle(self) -> bool:
        return self._begun == self._enqueued


@killed_by("runtime/stream/held-back-is-not-idle")
class IsIdleEarly(HonestProvider):
    """Be idle once the last task has begun."""

    stream_type: ClassVar[type[HonestStream]] = _IsIdleEarly


class _SynchronizesAtOnce(HonestStream):
    def is_idle(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Return at once."""


@killed_by("runtime/stream/synchronize-means-done")
class SynchronizesAtOnce(HonestProvider):
    """Let synchronize() return while work is under way."""

    stream_type: ClassVar[type[HonestStream]] = _SynchronizesAtOnce


class _Abandoning(HonestStream):
    """A stream that can be told to do no more copies and fills. What it has enqueued does not keep it alive."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.abandoned = threading.Event()
        super().__init__(*args, **options)

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        cpu, target, abandoned = self.cpu, bytes_of(dst), self.abandoned
        self.enqueue(lambda: None if abandoned.is_set() else cpu.fill(target, pattern))

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory):
            cpu, target, source, abandoned = self.cpu, bytes_of(dst), bytes_of(src), self.abandoned
            self.enqueue(lambda: None if abandoned.is_set() else cpu.copy(target, source))
        else:
            super().copy(dst, src, nbytes)


class _ClosesAtOnce(ep.Stream):
    def close(self) -> None:  # type: ignore[misc]  # it is final: this is a defect
        self.twin.abandoned.set()  # type: ignore[attr-defined]  # an _Abandoning
        super().close()


@killed_by("runtime/stream/close-waits-for-the-work")
class ClosesAtOnce(HonestProvider):
    """Destroy a stream at close(), with its unfinished work."""

    stream_type: ClassVar[type[HonestStream]] = _Abandoning
    host_stream: ClassVar[type[ep.Stream]] = _ClosesAtOnce


class _AbandonsDroppedStreams(ep.Stream):
    def __del__(self) -> None:
        self.twin.abandoned.set()  # type: ignore[attr-defined]  # an _Abandoning
        super().__del__()


@killed_by("runtime/lifetime/streams-dropped-with-work-under-way-finish")
class AbandonsDroppedStreams(HonestProvider):
    """Destroy a stream without references, with its unfinished work."""

    stream_type: ClassVar[type[HonestStream]] = _Abandoning
    host_stream: ClassVar[type[ep.Stream]] = _AbandonsDroppedStreams


class _AbandonsTimedOutStreams(HonestStream):
    _was_seen_busy = False

    def is_idle(self) -> bool:
        self._was_seen_busy = not super().is_idle()
        return not self._was_seen_busy

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        if not self._was_seen_busy:
            super().fill(dst, pattern)


@killed_by("runtime/stream/timeout-leaves-it-usable")
class AbandonsTimedOutStreams(HonestProvider):
    """Lose fills that are enqueued after a wait that timed out."""

    stream_type: ClassVar[type[HonestStream]] = _AbandonsTimedOutStreams


class _TakesForeignMemory(ep.Stream):
    def _check(self, operation: str, argument: str, memory: ep.Memory) -> None:  # type: ignore[misc]  # it is final: this is a defect
        if isinstance(memory, ep.Memory) and memory.device is not self.device:
            self._require_open(operation)
        else:
            super()._check(operation, argument, memory)


@killed_by("runtime/device/streams-of-other-devices-are-refused")
class TakesForeignMemory(HonestProvider):
    """Let streams fill, upload and download memory of other devices."""

    host_stream: ClassVar[type[ep.Stream]] = _TakesForeignMemory
