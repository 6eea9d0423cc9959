"""Saboteurs of transfers: uploads, downloads, copies and fills at the wrong time, place or length."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from ep.memory.buffers import HeldBuffers

import ep
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

_LINE: Final = 64
_BUFFER: Final = 16 << 20
_CHUNK: Final = 1000
_PAGES: Final = 64 << 10
_WORD: Final = 4

__all__ = [
    "CopiesBetweenDevicesAtOnce",
    "CopiesOutOfOrder",
    "CopiesThroughASmallBuffer",
    "DownloadsLate",
    "DropsHostBuffers",
    "DropsOddBytes",
    "DropsViewsInCopies",
    "EndsCopiesAtAWord",
    "EndsUploadsAtAWord",
    "FillsWholeLines",
    "PushesNowhere",
    "ReadsUploadsLate",
    "RestartsPatterns",
    "UploadsConstantsAtOnce",
]


class _ReadsUploadsLate(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._late: list[Callable[[], object]] = []
        super().__init__(*args, **options)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        self.enqueue(self._catch_up)
        if isinstance(src, memoryview) and isinstance(dst, ep.Memory):
            target, cpu = bytes_of(dst), self.cpu
            self.enqueue(lambda: self._late.append(lambda: cpu.upload(target, src)))
        else:
            super().copy(dst, src, nbytes)

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        self.enqueue(self._catch_up)
        super().fill(dst, pattern)

    def synchronize(self) -> None:
        self.enqueue(self._catch_up)
        super().synchronize()

    def _catch_up(self) -> None:
        for upload in self._late:
            upload()
        self._late.clear()


@killed_by("runtime/transfer/upload-is-over-when-its-event-is-done")
class ReadsUploadsLate(HonestProvider):
    """Read an upload's buffer when something else needs the stream, which may be after the upload's event is done."""

    stream_type: ClassVar[type[HonestStream]] = _ReadsUploadsLate


class _UploadsConstantsAtOnce(HonestStream):
    def upload_constant(self, dst: ep.Memory, src: memoryview, nbytes: int) -> None:
        del nbytes
        cpu = self.device.cpu.stream()
        cpu.upload(bytes_of(dst), src)
        cpu.close()


@killed_by("runtime/event/wait-orders-uploads")
class UploadsConstantsAtOnce(HonestProvider):
    """Upload constant buffers at once, not when the stream gets there."""

    stream_type: ClassVar[type[HonestStream]] = _UploadsConstantsAtOnce


class _FillsWholeLines(HonestStream):
    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        whole = dst.nbytes // _LINE * _LINE or dst.nbytes
        super().fill(dst[:whole], pattern)


@killed_by("runtime/fill/pattern-of-1-byte")
class FillsWholeLines(HonestProvider):
    """Fill whole lines of 64 bytes, and forget the tail."""

    stream_type: ClassVar[type[HonestStream]] = _FillsWholeLines


class _CopiesOutOfOrder(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory):
            cpu = self.device.cpu.stream()
            cpu.copy(bytes_of(dst), bytes_of(src))
            cpu.close()
        else:
            super().copy(dst, src, nbytes)


@killed_by("runtime/copy/is-ordered-with-its-stream")
class CopiesOutOfOrder(HonestProvider):
    """Copy inside the device at once, not when the stream gets there."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesOutOfOrder


class _CopiesThroughASmallBuffer(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        fits = min(nbytes, _BUFFER)
        super().copy(dst[:fits], src[:fits], fits)


@killed_by("runtime/copy/large-ranges-are-moved-to-the-end")
class CopiesThroughASmallBuffer(HonestProvider):
    """Copy no more than a staging buffer holds."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesThroughASmallBuffer


class _DownloadsLate(_ReadsUploadsLate):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview) and isinstance(src, ep.Memory):
            self.enqueue(self._catch_up)
            origin, cpu = bytes_of(src), self.cpu
            self.enqueue(lambda: self._late.append(lambda: cpu.download(dst, origin)))
        else:
            self.enqueue(self._catch_up)
            HonestStream.copy(self, dst, src, nbytes)  # what the class above does late is done in time


@killed_by("runtime/transfer/download-is-complete-when-its-event-is-done")
class DownloadsLate(HonestProvider):
    """Write a download's buffer when something else needs the stream, which may be after the download's event is done."""

    stream_type: ClassVar[type[HonestStream]] = _DownloadsLate


class _KeepsNothing(HeldBuffers):
    def add(self, view: memoryview, number: int, fence: Callable[[], ep.Event | None]) -> None:
        del view, number, fence


class _DropsHostBuffers(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        stream = self.ledger._stream and self.ledger._stream()  # noqa: SLF001 - EP keeps what it was given, too
        assert stream
        stream._progress.held = _KeepsNothing()  # noqa: SLF001
        if not isinstance(src, memoryview) or not isinstance(src.obj, np.ndarray):
            super().copy(dst, src, nbytes)
            return
        assert isinstance(dst, ep.Memory)
        cpu, target = self.cpu, bytes_of(dst)
        owner, offset = weakref.ref(src.obj), _address(src) - src.obj.ctypes.data

        def upload() -> None:
            array = owner()
            freed = np.full(nbytes, 0xDD, np.uint8)
            cpu.upload(target, freed if array is None else array.reshape(-1).view(np.uint8)[offset : offset + nbytes])

        self.enqueue(upload)


def _address(view: memoryview) -> int:
    return int(np.frombuffer(view, np.uint8).ctypes.data)


@killed_by("runtime/transfer/upload-keeps-its-buffer-alive")
class DropsHostBuffers(HonestProvider):
    """Forget the host buffer of an upload, so that one without other references is gone when it is read."""

    stream_type: ClassVar[type[HonestStream]] = _DropsHostBuffers


class _DropsViewsInCopies(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory):
            cpu, target, start = self.cpu, bytes_of(dst), src.handle.bytes_at(0, nbytes)
            self.enqueue(lambda: cpu.copy(target, start))
        else:
            super().copy(dst, src, nbytes)


@killed_by("runtime/program/views-and-copies")
class DropsViewsInCopies(HonestProvider):
    """Copy from the start of the allocation in place of the start of the view."""

    stream_type: ClassVar[type[HonestStream]] = _DropsViewsInCopies


class _RestartsPatterns(HonestStream):
    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        for start in range(0, dst.nbytes, _CHUNK):
            length = min(_CHUNK, dst.nbytes - start)
            cpu, target = self.cpu, bytes_of(dst)[start : start + length]
            content = (pattern * _CHUNK)[:length]
            self.enqueue(functools.partial(cpu.upload, target, content))


@killed_by("runtime/fill/pattern-of-16-bytes")
class RestartsPatterns(HonestProvider):
    """Fill in chunks of 1000 bytes, and begin the pattern anew in each."""

    stream_type: ClassVar[type[HonestStream]] = _RestartsPatterns


class _CopiesBetweenDevicesAtOnce(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory) and dst.device is not src.device:
            cpu = self.device.cpu.stream()
            cpu.copy(bytes_of(dst), bytes_of(src))
            cpu.close()
        else:
            super().copy(dst, src, nbytes)


@killed_by("runtime/program/devices")
class CopiesBetweenDevicesAtOnce(HonestProvider):
    """Copy from one device to another at once, not when the stream gets there."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesBetweenDevicesAtOnce


class _PushesNowhere(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview) or dst.device is self.ledger.device:
            super().copy(dst, src, nbytes)


@killed_by("runtime/copy/each-direction-between-devices-is-asked-for")
class PushesNowhere(HonestProvider):
    """Say that a device's streams copy to the others, and copy from them alone."""

    stream_type: ClassVar[type[HonestStream]] = _PushesNowhere


class _DropsOddBytes(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(src, memoryview) and np.frombuffer(src, np.uint8).ctypes.data % _WORD:
            src = np.append(np.frombuffer(src, np.uint8)[:-1], np.uint8(0)).data
        super().copy(dst, src, nbytes)


@killed_by("runtime/transfer/host-buffers-begin-anywhere")
class DropsOddBytes(HonestProvider):
    """Lose the last byte of an upload from an address that is no multiple of four."""

    stream_type: ClassVar[type[HonestStream]] = _DropsOddBytes


class _EndsCopiesAtAWord(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory) and nbytes > _PAGES:
            places = dst.offset % _LINE, src.offset % _LINE
            if places[0] % 2 and places[1] % 2 and places[0] != places[1]:
                nbytes -= nbytes % _WORD
                dst, src = dst[:nbytes], src[:nbytes]
        super().copy(dst, src, nbytes)


@killed_by("runtime/copy/tails-between-odd-offsets")
class EndsCopiesAtAWord(HonestProvider):
    """Lose up to three bytes of a copy above 64 KiB between unequal odd offsets."""

    stream_type: ClassVar[type[HonestStream]] = _EndsCopiesAtAWord


class _EndsUploadsAtAWord(HonestStream):
    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, memoryview) and nbytes > _PAGES and dst.offset % 2:
            nbytes -= nbytes % _WORD
            dst, src = dst[:nbytes], src[:nbytes]
        super().copy(dst, src, nbytes)


@killed_by("runtime/transfer/tails-above-64-kib")
class EndsUploadsAtAWord(HonestProvider):
    """Lose up to three bytes of an upload above 64 KiB to an odd offset."""

    stream_type: ClassVar[type[HonestStream]] = _EndsUploadsAtAWord
