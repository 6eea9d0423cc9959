"""A provider's event: a point that it placed in one of its streams."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ep.ground.waiting import sleep

__all__ = ["Event", "HostEvent"]


class Event(ABC):
    """A point in a stream, which never moves; `ep.Event` holds it as its `twin`.

    wakes_host : of the class: True if `pause` ends as soon as the point is reached
    """

    wakes_host: ClassVar[bool] = False

    # What a provider must write.

    @abstractmethod
    def is_done(self) -> bool:
        """Answer without waiting whether the point is reached. Called from any thread. Raises nothing.

        True also after work that failed, and on a lost device: the provider reports the error to the stream's ledger
        first, and waiting for the event raises it.
        """

    # What a provider may write.

    def seconds_since(self, earlier: Any) -> float:
        """Return device seconds from another event of this device to this one, both timed and done."""
        raise NotImplementedError

    def point(self) -> Event:
        """Return the done event that knows the time. Default: this one."""
        return self

    def pause(self, seconds: float) -> None:
        """Let the host rest while it waits for this event, `seconds` at most. Default: all of them."""
        sleep(seconds)


class HostEvent(Event):
    """The event of a stream without events: the host waited when it was recorded, so it is done."""

    def __init__(self) -> None:
        self._at = time.perf_counter()

    def is_done(self) -> bool:
        return True

    def seconds_since(self, earlier: Any) -> float:
        return self._at - earlier._at if isinstance(earlier, HostEvent) else 0.0
