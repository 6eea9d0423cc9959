"""An Event is a point already placed in a stream; it never moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ep.ground.callback import check_may_wait
from ep.ground.uncopied import Uncopied
from ep.ground.waiting import sleep, wait_until

if TYPE_CHECKING:
    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["Event"]


class Event(Uncopied):
    """A point in a stream, made by `stream.record`.

    device    : where it was recorded
    is_timed  : True if it carries device time, so that seconds_since works
    twin      : the provider's event; None of those that EP makes itself
    """

    def __init__(self, stream: Stream, twin: Any, *, is_timed: bool) -> None:
        self.stream = stream
        self.device: Device = stream.device
        self.twin = twin
        self.is_timed = is_timed

    @property
    @final
    def is_done(self) -> bool:
        """True once all that was enqueued before it has finished. Never waits."""
        self.device._check_fork("event.is_done")
        return self._is_done()

    @final
    def synchronize(self, timeout: float | None = None) -> None:
        """Let the host wait for the event, at most `timeout` seconds.

        Raises TimeoutError; Ctrl-C works; the event is usable after either. Raises the error of work that failed.
        """
        self.device._check_fork("event.synchronize")
        check_may_wait("event.synchronize")
        self._wait(timeout, f"event.synchronize on {self.stream}")
        self.stream._raise_error()

    @final
    def _wait_done(self) -> None:
        """Let the host wait, even if the work failed: its error is raised by a synchronisation with its stream."""
        self._wait(None, f"wait for {self.stream}")

    @final
    def seconds_since(self, earlier: Event) -> float:
        """Return the device time from `earlier` to this event, in seconds, at least 0.

        Raises ValueError unless both are timed, done and of one device, saying which of it fails.
        """
        self.device._check_fork("event.seconds_since")
        if not isinstance(earlier, Event):
            message = f"seconds_since: earlier is {type(earlier).__name__}, needs an Event"
            raise TypeError(message)
        for which, event in (("earlier", earlier), ("this", self)):
            if not event.is_timed:
                message = f"seconds_since: {which} event is untimed; record it with stream.record(timed=True)"
                raise ValueError(message)
            if not event._is_done():
                message = f"seconds_since: {which} event is not done; synchronize it first"
                raise ValueError(message)
        if earlier.device is not self.device:
            message = f"seconds_since: the events are of {earlier.device.name} and {self.device.name}; clocks differ"
            raise ValueError(message)
        seconds: float = self.twin.point().seconds_since(earlier.twin.point())
        return max(0.0, seconds)

    def _is_done(self) -> bool:
        """Answer without waiting whether the point is reached."""
        reached: bool = self.twin.is_done()
        return reached

    def _wait(self, timeout: float | None, operation: str) -> None:
        wakes = self.twin is not None and self.twin.wakes_host
        wait_until(self._is_done, timeout, operation, self._pause, wakes=wakes)

    def _pause(self, seconds: float) -> None:
        pause = sleep if self.twin is None else self.twin.pause
        pause(seconds)
