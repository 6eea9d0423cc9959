"""The happens-before relation: a vector clock for each stream and for the host, and the accesses that may race."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HOST", "Order", "Span"]

HOST: Final = "host"
"""The actor that enqueues: work that it has waited for happens before all work that it enqueues later."""

Clock = dict[str, int]


class Span(NamedTuple):
    """Bytes start:stop of a place, which is a memory or a host buffer by name; `view` is a slice that they are taken of."""

    place: str
    start: int
    stop: int
    view: tuple[int, int] | None = None

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.stop - self.start

    def meets(self, other: Span) -> bool:
        """Say whether two spans share a byte."""
        return self.place == other.place and self.start < other.stop and other.start < self.stop

    def at(self, place: str) -> Span:
        """Return the same bytes of another place."""
        return self._replace(place=place)

    def __str__(self) -> str:
        if self.view is None:
            return f"{self.place}[{self.start}:{self.stop}]"
        low, high = self.view
        return f"{self.place}[{low}:{high}][{self.start - low}:{self.stop - low}]"


class Access(NamedTuple):
    """A span that was read or written by an actor at a time of its own."""

    span: Span
    actor: str
    time: int
    writes: bool


class Order:
    """The happens-before relation of a program, as far as its host and its streams know it."""

    def __init__(self, streams: Iterable[str]) -> None:
        actors = (HOST, *streams)
        self._known: dict[str, Clock] = {actor: {} for actor in actors}
        self._times: Clock = dict.fromkeys(actors, 0)
        self._accesses: list[Access] = []
        self._events: dict[str, Clock] = {}

    def conflict(self, actor: str, reads: tuple[Span, ...], writes: tuple[Span, ...]) -> Access | None:
        """Return an earlier access that these would race with, None if they are ordered after all of them."""
        known = self._known[actor]
        host = self._known[HOST]
        for access in self._accesses:
            if access.actor in (actor, HOST) or access.time <= max(
                known.get(access.actor, 0), host.get(access.actor, 0)
            ):
                continue
            touched = (*reads, *writes) if access.writes else writes
            if any(access.span.meets(span) for span in touched):
                return access
        return None

    def enqueue(self, actor: str, reads: tuple[Span, ...], writes: tuple[Span, ...]) -> None:
        """Note an actor's next accesses."""
        _join(self._known[actor], self._known[HOST])
        self._times[actor] += 1
        self._known[actor][actor] = time = self._times[actor]
        self._accesses += [Access(span, actor, time, writes=False) for span in reads]
        self._accesses += [Access(span, actor, time, writes=True) for span in writes]

    def record(self, event: str, actor: str) -> None:
        """Place an event after all that the actor knows and did."""
        self._events[event] = {**self._known[HOST], **self._known[actor]}

    def event_behind(self, access: Access) -> str | None:
        """Return the earliest event after an access."""
        found = (name for name, clock in self._events.items() if clock.get(access.actor, 0) >= access.time)
        return next(found, None)

    def wait(self, actor: str, event: str) -> None:
        """Order an actor after an event."""
        _join(self._known[actor], self._events[event])

    def synchronize(self, stream: str) -> None:
        """Order the host after a stream."""
        _join(self._known[HOST], self._known[stream])


def _join(clock: Clock, other: Clock) -> None:
    for actor, time in other.items():
        if time > clock.get(actor, 0):
            clock[actor] = time
