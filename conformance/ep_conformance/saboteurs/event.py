"""The honest event: a flag that the stream's worker sets when it gets there, and the time at which it did."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import ep

if TYPE_CHECKING:
    from ep_conformance.saboteurs.stream import HonestStream

__all__ = ["HonestEvent"]


class HonestEvent(ep.Event):
    """A point in a worker's queue."""

    def __init__(self, stream: HonestStream, *, is_timed: bool) -> None:
        super().__init__(stream, is_timed=is_timed)
        self.reached = threading.Event()
        self.at = 0.0

    def reach(self) -> None:
        """Note that the worker got here."""
        self.at = time.perf_counter()
        self.reached.set()

    def _is_done(self) -> bool:
        return self.reached.is_set()

    def _seconds_since(self, earlier: ep.Event) -> float:
        return self.at - earlier.at if isinstance(earlier, HonestEvent) else 0.0
