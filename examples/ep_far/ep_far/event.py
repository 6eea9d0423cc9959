"""The far event: a place in a queue, which the device told the host it has passed."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ep.locks import Latch

import ep

if TYPE_CHECKING:
    from ep_far.link import Link
    from ep_far.progress import Progress


class FarEvent(ep.spi.Event):
    """A point in a queue.

    link    : of its device
    number  : under which the device knows it
    """

    def __init__(self, link: Link, progress: Progress) -> None:
        self.link = link
        self.number = link.number()
        self._ledger = progress.ledger
        self._reached = Latch()
        self._nanoseconds = 0
        weakref.finalize(self, link.send, "forget", self.number)

    def reach(self, nanoseconds: int) -> None:
        """Note that the queue got here, and when by the device's clock. Once."""
        self._nanoseconds = nanoseconds
        self._reached.open()

    def is_done(self) -> bool:
        if self.link.is_lost:
            self._ledger.failed(None, self.link.lost_error())
            return True
        return self._reached.is_open

    def pause(self, seconds: float) -> None:
        self._reached.rest(seconds)

    def seconds_since(self, earlier: FarEvent) -> float:
        return (self._nanoseconds - earlier._nanoseconds) * 1e-9
