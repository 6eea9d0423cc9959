"""The honest event: a flag that the stream's worker sets when it gets there, and the time at which it did."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.saboteurs.stream import HonestStream

__all__ = ["HonestEvent"]


class HonestEvent(ep.spi.Event):
    """A point in a worker's queue."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.at = 0.0
        self._hear: Callable[[], object] = _hear_nothing

    def of(self, stream: HonestStream) -> Self:
        """Note whose event it is, and return it: who asks hears of a lost device."""
        self._hear = stream.hear()
        return self

    def reach(self) -> None:
        """Note that the worker got here."""
        self.at = time.perf_counter()
        self.reached.set()

    def is_done(self) -> bool:
        self._hear()
        return self.reached.is_set()

    def seconds_since(self, earlier: HonestEvent) -> float:
        return self.at - earlier.at


def _hear_nothing() -> None:
    """Do nothing: it is nobody's event."""
