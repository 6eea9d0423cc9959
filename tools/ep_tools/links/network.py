"""A simulation of links, event by event: messages wait for the links that they share, receivers for messages."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Link", "Machine", "Message", "Program", "Receive", "Send", "simulate"]


class Link(NamedTuple):
    """latency in seconds until the first byte arrives, bandwidth in bytes a second, gap in seconds between two messages."""

    latency: float
    bandwidth: float
    gap: float = 0.0


class Message(NamedTuple):
    """What a receiver waits for: the ranks at both ends, and a channel, in which messages keep their order."""

    channel: int
    source: int
    target: int


class Send(NamedTuple):
    """A rank hands over so many bytes, and goes on at once."""

    message: Message
    nbytes: float


class Receive(NamedTuple):
    """A rank waits for a message, and then adds so many bytes of it to its own."""

    message: Message
    added: float = 0.0


class Sent(NamedTuple):
    """A message on its way to an end of a link, which it takes for some seconds, and a gap."""

    message: Message
    end: tuple[str, int]
    taken: float
    gap: float


Program = Iterator[Send | Receive]
"""What one rank does, step by step; a rank may run several at once."""


class Machine(NamedTuple):
    """Nodes of some ranks each. Links are full-duplex, and nothing is between them: switches block nobody.

    node   : ranks in one
    near   : the link of each rank to the others of its node
    far    : the link of each node to all others; its ranks share it
    adding : bytes a second that a rank adds
    """

    name: str
    node: int
    near: Link
    far: Link
    adding: float

    def route(self, message: Message) -> tuple[Link, tuple[str, int], tuple[str, int]]:
        """Return what a message costs, and the two ends of links that it occupies."""
        source, target = message.source // self.node, message.target // self.node
        if source == target:
            return self.near, ("out", message.source), ("in", message.target)
        return self.far, ("far out", source), ("far in", target)


def simulate(machine: Machine, programs: Iterable[Program]) -> float:
    """Return the seconds until all programs have ended.

    A message leaves when its sender's end of the link is free, and enters the receiver's, a latency later, when that is free:
    whoever comes first. Each end is taken for the bytes and a gap. Raises ValueError if a program waits for a message that
    nobody sends.
    """
    running = [*programs]
    order = itertools.count()
    events: list[tuple[float, int, int | Sent]] = [(0.0, next(order), number) for number in range(len(running))]
    free: defaultdict[tuple[str, int], float] = defaultdict(float)
    mail: defaultdict[Message, deque[float]] = defaultdict(deque)
    waiting: dict[Message, tuple[int, float]] = {}
    now = 0.0
    while events:
        now, _, event = heapq.heappop(events)
        if isinstance(event, Sent):
            begin = max(now, free[event.end])
            free[event.end] = begin + event.gap + event.taken
            if event.message in waiting:
                number, added = waiting.pop(event.message)
                heapq.heappush(events, (begin + event.taken + added, next(order), number))
            else:
                mail[event.message].append(begin + event.taken)
            continue
        for step in running[event]:
            if isinstance(step, Send):
                link, out, into = machine.route(step.message)
                begin, taken = max(now, free[out]), step.nbytes / link.bandwidth
                free[out] = begin + link.gap + taken
                entry = Sent(step.message, into, taken, link.gap)
                heapq.heappush(events, (begin + link.latency, next(order), entry))
                continue
            added = step.added / machine.adding
            if mail[step.message]:
                then = max(now, mail[step.message].popleft()) + added
                heapq.heappush(events, (then, next(order), event))
            else:
                waiting[step.message] = event, added
            break
    if waiting:
        message = (
            f"simulate: {len(waiting)} programs wait for messages that nobody sends, such as {next(iter(waiting))}"
        )
        raise ValueError(message)
    return now
