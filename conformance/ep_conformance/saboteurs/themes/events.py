"""Saboteurs of order: waits that do not hold, events that are not what they say, streams that are not done."""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep_conformance.saboteurs.event import HonestEvent
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep

_PATIENCE_SECONDS: Final = 0.02
_HOST_SECONDS: Final = 0.5

__all__ = [
    "HoldsKernelsAlone",
    "IgnoresOtherDevices",
    "IgnoresWait",
    "IgnoresWaitsOfPriorities",
    "LetsTheHostWait",
    "RecordsElsewhere",
    "ReportsEventsEarly",
    "ReusesEvents",
    "TimesInMilliseconds",
    "TimesTheEnqueue",
]


class _IgnoresWait(HonestStream):
    def wait(self, event: ep.Event) -> None:
        del event


@killed_by("runtime/event/wait-orders-kernels")
class IgnoresWait(HonestProvider):
    """Let wait(event) do nothing."""

    stream_type: ClassVar[type[HonestStream]] = _IgnoresWait


class _IgnoresWaitsOfPriorities(HonestStream):
    def __init__(self, *args: Any, seed: int, **options: Any) -> None:
        self._has_priority = seed != 0
        super().__init__(*args, seed=seed, **options)

    def wait(self, event: ep.Event) -> None:
        if not self._has_priority:
            super().wait(event)


@killed_by("runtime/wait/holds-back-streams-of-every-kind")
class IgnoresWaitsOfPriorities(HonestProvider):
    """Let wait(event) do nothing on streams with a priority."""

    stream_type: ClassVar[type[HonestStream]] = _IgnoresWaitsOfPriorities


class _HoldsKernelsAlone(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._awaited: list[ep.Event] = []
        super().__init__(*args, **options)

    def wait(self, event: ep.Event) -> None:
        self._awaited.append(event)

    def enqueue(self, task: Callable[[], object]) -> None:
        awaited, self._awaited = self._awaited, []
        for event in awaited:
            super().wait(event)
        super().enqueue(task)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        awaited, self._awaited = self._awaited, []
        super().copy(dst, src, nbytes)
        self._awaited = awaited


@killed_by("runtime/event/wait-orders-uploads")
class HoldsKernelsAlone(HonestProvider):
    """Let wait(event) hold back kernels and fills, but no copies."""

    stream_type: ClassVar[type[HonestStream]] = _HoldsKernelsAlone


class _ReportsEventsEarly(HonestEvent):
    def is_done(self) -> bool:
        return True


@killed_by("runtime/event/done-means-done")
class ReportsEventsEarly(HonestProvider):
    """Let every event be done at once."""

    event_type: ClassVar[type[HonestEvent]] = _ReportsEventsEarly


class _TimesInMilliseconds(HonestEvent):
    def seconds_since(self, earlier: HonestEvent) -> float:
        return 1000 * super().seconds_since(earlier)


@killed_by("runtime/event/time-is-of-the-device-and-in-seconds")
class TimesInMilliseconds(HonestProvider):
    """Give device time in milliseconds."""

    event_type: ClassVar[type[HonestEvent]] = _TimesInMilliseconds


class _TimesTheEnqueue(HonestEvent):
    def __init__(self) -> None:
        super().__init__()
        self._enqueued = time.perf_counter()

    def reach(self) -> None:
        self.at = self._enqueued
        self.reached.set()


@killed_by("runtime/event/time-is-of-the-device-and-in-seconds")
class TimesTheEnqueue(HonestProvider):
    """Take the time of an event when it is enqueued, not when the stream gets there."""

    event_type: ClassVar[type[HonestEvent]] = _TimesTheEnqueue


class _RecordsElsewhere(HonestStream):
    _last: ClassVar[weakref.ref[_RecordsElsewhere] | None] = None
    is_ended = False

    def close(self) -> None:
        self.is_ended = True
        super().close()

    def record(self, *, timed: bool) -> HonestEvent:
        del timed
        last = None if _RecordsElsewhere._last is None else _RecordsElsewhere._last()
        if last is None or last.is_ended or last.device is not self.device:
            last = self
        event = self._event_type()
        last.enqueue(event.reach)
        return event

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        _RecordsElsewhere._last = weakref.ref(self)
        super().copy(dst, src, nbytes)


@killed_by("runtime/program/streams-and-events")
class RecordsElsewhere(HonestProvider):
    """Record events on the stream that copied last, whichever it is."""

    stream_type: ClassVar[type[HonestStream]] = _RecordsElsewhere


class _ReusesEvents(HonestStream):
    _event: HonestEvent | None = None

    def record(self, *, timed: bool) -> HonestEvent:
        if self._event is None or timed:
            self._event = self._event_type()
        event = self._event
        event.reached.clear()
        self.enqueue(event.reach)
        return event

    def wait(self, event: ep.Event) -> None:
        self.enqueue(lambda: event.twin.reached.wait(_PATIENCE_SECONDS))  # what moves may never come


@killed_by("runtime/program/streams-and-events")
class ReusesEvents(HonestProvider):
    """Give every record of a stream the same event, which moves."""

    stream_type: ClassVar[type[HonestStream]] = _ReusesEvents


class _IgnoresOtherDevices(HonestStream):
    def wait(self, event: ep.Event) -> None:
        if event.device is self.ledger.device:
            super().wait(event)


@killed_by("runtime/program/devices")
class IgnoresOtherDevices(HonestProvider):
    """Let wait(event) do nothing where the event is of another device."""

    stream_type: ClassVar[type[HonestStream]] = _IgnoresOtherDevices


class _LetsTheHostWait(HonestStream):
    def wait(self, event: ep.Event) -> None:
        event.twin.reached.wait(_HOST_SECONDS)


@killed_by("runtime/wait/host-that-enqueues-it-goes-on")
class LetsTheHostWait(HonestProvider):
    """Let the enqueuing host wait for an event, and say that the device does."""

    stream_type: ClassVar[type[HonestStream]] = _LetsTheHostWait
