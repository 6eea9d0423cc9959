"""Saboteurs of long operations: done when they begin, or in two parts of which the second comes late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep
    from ep_conformance.saboteurs.event import HonestEvent

__all__ = [
    "CopiesLongRangesInTwo",
    "DownloadsLongBuffersInTwo",
    "IsDoneWhenACopyBegins",
    "IsIdleDuringCopies",
    "PassesWhenACopyBegins",
    "UploadsLongBuffersInTwo",
]

_LONG: Final = 16 << 20


class _TellsWhenCopiesBegin(HonestStream):
    """A stream that knows whether the last thing in it is a copy or a fill that has begun."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._begun: list[object] = []  # the copy that has begun last
        self._last: object = None  # what was enqueued last, if it is a copy
        super().__init__(*args, **options)

    def work(self, task: Callable[[], object], kind: str = "") -> Callable[[], object]:
        perform, mark, begun = super().work(task, kind), object(), self._begun

        def begin() -> None:
            begun[:] = [mark]
            perform()

        self._last = mark
        return begin

    def call(self, function: Callable[[], object]) -> None:
        super().call(function)
        self._last = None

    def has_begun(self) -> Callable[[], bool]:
        """Return what says whether the copy that was enqueued last has begun."""
        begun, last = self._begun, self._last
        return lambda: last is not None and begun == [last]


class _IsDoneWhenACopyBegins(_TellsWhenCopiesBegin):
    def record(self, *, timed: bool) -> HonestEvent:
        has_begun = self.has_begun()
        event = super().record(timed=timed)
        if timed:
            return event
        is_done = event.is_done
        event.is_done = lambda: is_done() or has_begun()  # type: ignore[method-assign]
        return event


@killed_by("runtime/event/long-operations-are-done")
class IsDoneWhenACopyBegins(HonestProvider):
    """Let an event be done once the copy before it has begun."""

    stream_type: ClassVar[type[HonestStream]] = _IsDoneWhenACopyBegins


class _PassesWhenACopyBegins(_TellsWhenCopiesBegin):
    def record(self, *, timed: bool) -> HonestEvent:
        event = super().record(timed=timed)
        event.has_begun = self.has_begun()  # type: ignore[attr-defined]
        return event

    def wait(self, event: ep.Event) -> None:
        twin = event.twin

        def pass_early() -> None:
            while not twin.has_begun() and not twin.reached.wait(0.0001):
                pass

        self.enqueue(pass_early)


@killed_by("runtime/event/long-operations-are-waited-for")
class PassesWhenACopyBegins(HonestProvider):
    """Let streams that wait for an event go on once the copy before it has begun."""

    stream_type: ClassVar[type[HonestStream]] = _PassesWhenACopyBegins


class _IsIdleDuringCopies(_TellsWhenCopiesBegin):
    def is_idle(self) -> bool:
        return super().is_idle() or (len(self._progress.tasks) == 1 and self.has_begun()())


@killed_by("runtime/stream/long-operations-are-done")
class IsIdleDuringCopies(HonestProvider):
    """Be idle while the last copy is under way."""

    stream_type: ClassVar[type[HonestStream]] = _IsIdleDuringCopies


class _InTwo(HonestStream):
    """A stream that may do the second half of a copy when something else than a fill or an event comes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._halves: list[Callable[[], object]] = []
        super().__init__(*args, **options)

    def in_two(self, half: Callable[[], object], other: Callable[[], object]) -> None:
        """Do one half in its turn, the other one later."""
        self.enqueue(self.work(half, "copy"))
        self.enqueue(lambda: self._halves.append(other))

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        self.enqueue(self.catch_up)
        if nbytes <= _LONG or not self.splits(dst, src, nbytes // 2):
            super().copy(dst, src, nbytes)

    def splits(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, half: int) -> bool:
        """Do a long copy in two, if it is of the kind."""
        raise NotImplementedError

    def call(self, function: Callable[[], object]) -> None:
        self.enqueue(self.catch_up)
        super().call(function)

    def catch_up(self) -> None:
        """Do what is left."""
        for half in self._halves:
            half()
        self._halves.clear()

    def close(self) -> None:
        self.enqueue(self.catch_up)
        super().close()


class _CopiesLongRangesInTwo(_InTwo):
    def splits(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, half: int) -> bool:
        if isinstance(dst, memoryview) or isinstance(src, memoryview):
            return False
        cpu, to, come = self.cpu, bytes_of(dst), bytes_of(src)
        self.in_two(lambda: cpu.copy(to[:half], come[:half]), lambda: cpu.copy(to[half:], come[half:]))
        return True

    def record(self, *, timed: bool) -> HonestEvent:
        self.enqueue(self.catch_up)
        return super().record(timed=timed)

    def synchronize(self) -> None:
        self.enqueue(self.catch_up)
        super().synchronize()


@killed_by("runtime/copy/sources-may-be-overwritten-at-once")
class CopiesLongRangesInTwo(HonestProvider):
    """Copy the second half of more than 16 MiB beside the fills behind it."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesLongRangesInTwo


class _UploadsLongBuffersInTwo(_InTwo):
    def splits(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, half: int) -> bool:
        if isinstance(dst, memoryview) or not isinstance(src, memoryview):
            return False
        cpu, to = self.cpu, bytes_of(dst)
        self.in_two(lambda: cpu.upload(to[:half], src[:half]), lambda: cpu.upload(to[half:], src[half:]))
        return True


@killed_by("runtime/transfer/large-buffers-may-be-overwritten-at-once")
class UploadsLongBuffersInTwo(HonestProvider):
    """Read the second half of a buffer of more than 16 MiB when something else comes, which may be after its event is done."""

    stream_type: ClassVar[type[HonestStream]] = _UploadsLongBuffersInTwo


class _DownloadsLongBuffersInTwo(_InTwo):
    def splits(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, half: int) -> bool:
        if not isinstance(dst, memoryview) or isinstance(src, memoryview):
            return False
        cpu, come = self.cpu, bytes_of(src)
        self.in_two(lambda: cpu.download(dst[:half], come[:half]), lambda: cpu.download(dst[half:], come[half:]))
        return True

    def record(self, *, timed: bool) -> HonestEvent:
        event = super().record(timed=timed)
        self.enqueue(self.catch_up)
        return event

    def synchronize(self) -> None:
        self.enqueue(self.catch_up)
        super().synchronize()


@killed_by("runtime/transfer/large-downloads-are-complete")
class DownloadsLongBuffersInTwo(HonestProvider):
    """Bring the second half of more than 16 MiB right after the event behind the download."""

    stream_type: ClassVar[type[HonestStream]] = _DownloadsLongBuffersInTwo
