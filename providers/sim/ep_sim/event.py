"""The simulated event: a flag that a worker sets when it gets there, and the device's time at which it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep

if TYPE_CHECKING:
    from ep_sim.stream import SimStream

__all__ = ["SimEvent"]


class SimEvent(ep.spi.Event):
    """A point in a stream.

    is_reached  : True once the stream got there
    nanoseconds : of the device's clock at that moment
    """

    def __init__(self, stream: SimStream) -> None:
        self._owner = stream
        self.is_reached = False
        self.nanoseconds = 0

    def reach(self, _: object) -> None:
        """Note that the stream got here."""
        self.nanoseconds = self._owner.device.clock()
        self.is_reached = True

    def has_been_reached(self) -> bool:
        """Say whether the stream got here, without being a look."""
        return self.is_reached

    def is_done(self) -> bool:
        if not self.is_reached:
            self._owner.device.scheduler.look()
        if self.is_reached:
            self._owner.hear()
        return self.is_reached

    def pause(self, seconds: float) -> None:
        self._owner.device.scheduler.rest(self.has_been_reached, seconds)

    def seconds_since(self, earlier: SimEvent) -> float:
        return (self.nanoseconds - earlier.nanoseconds) * 1e-9
