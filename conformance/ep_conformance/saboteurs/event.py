"""The honest event: a flag that the stream's worker sets when it gets there, and the time at which it did."""

from __future__ import annotations

import threading
import time

import ep

__all__ = ["HonestEvent"]


class HonestEvent(ep.spi.Event):
    """A point in a worker's queue."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.at = 0.0

    def reach(self) -> None:
        """Note that the worker got here."""
        self.at = time.perf_counter()
        self.reached.set()

    def is_done(self) -> bool:
        return self.reached.is_set()

    def seconds_since(self, earlier: HonestEvent) -> float:
        return self.at - earlier.at
