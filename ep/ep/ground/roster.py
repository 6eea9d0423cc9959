"""A Roster names streams, of EP or of a provider, without keeping them alive, in the order in which they came."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

Named = TypeVar("Named")

__all__ = ["Roster"]


class Roster(Generic[Named]):
    """Streams, each once. Handlers, finalizers and other threads may add during a read, which therefore copies first.

    A set would not keep the order, and events are to be recorded in the same order in each run.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[weakref.ref[Named], None] = {}

    def add(self, stream: Named) -> None:
        """Name a stream until it is gone."""
        # The dictionary itself removes the entry: no line of EP runs that Ctrl-C could interrupt.
        self._known[weakref.ref(stream, self._known.pop)] = None

    def living(self) -> list[Named]:
        """Return the streams that still exist."""
        return [stream for reference in [*self._known] if (stream := reference()) is not None]
