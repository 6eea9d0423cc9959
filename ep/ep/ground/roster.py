"""A Roster names streams, of EP or of a provider, without keeping them alive, in the order in which they came."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

Named = TypeVar("Named")

__all__ = ["Roster"]


class Roster(Generic[Named]):
    """Streams, each once. Handlers, finalizers and other threads may add while somebody reads: reading begins with a copy.

    A set would not keep the order, and what is recorded where is to be the same in each run.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[weakref.ref[Named], None] = {}

    def add(self, stream: Named) -> None:
        """Name a stream until it is gone."""
        # Struck out by the dictionary itself: no line of ours runs that Ctrl-C could end.
        self._known[weakref.ref(stream, self._known.pop)] = None

    def living(self) -> list[Named]:
        """Return those that are not gone."""
        return [stream for reference in [*self._known] if (stream := reference()) is not None]
