"""Schedules of an AllReduce: the programs of all ranks, by algorithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ep_tools.links.network import Message, Receive, Send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_tools.links.network import Machine, Program

__all__ = ["SCHEDULES", "chunks_of", "depth_of", "parent_of"]

_MOST_CHUNKS: Final = 128


def ring(machine: Machine, ranks: int, nbytes: float) -> Iterator[Program]:
    """Yield the ring: a ReduceScatter and an AllGather of n - 1 steps each, of an n-th of the bytes (Patarasuk and Yuan)."""
    del machine
    part = nbytes / ranks

    def program(rank: int) -> Program:
        sent, got = Message(0, rank, (rank + 1) % ranks), Message(0, (rank - 1) % ranks, rank)
        for step in range(2 * (ranks - 1)):
            yield Send(sent, part)
            yield Receive(got, part if step < ranks - 1 else 0)

    return (program(rank) for rank in range(ranks))


def doubling(machine: Machine, ranks: int, nbytes: float) -> Iterator[Program]:
    """Yield recursive doubling: in step k all bytes are exchanged with the rank at distance 2^k (Thakur et al.)."""
    del machine

    def program(rank: int) -> Program:
        for step in range(depth_of(ranks)):
            other = rank ^ (1 << step)
            yield Send(Message(0, rank, other), nbytes)
            yield Receive(Message(0, other, rank), nbytes)

    return (program(rank) for rank in range(ranks))


def halving(machine: Machine, ranks: int, nbytes: float) -> Iterator[Program]:
    """Yield Rabenseifner's algorithm: halves, quarters and so on are exchanged and added, then gathered the same way back."""
    del machine
    depth = depth_of(ranks)

    def program(rank: int) -> Program:
        for step in range(2 * depth):
            is_reducing = step < depth
            level = step if is_reducing else 2 * depth - 1 - step
            other, part = rank ^ (1 << level), nbytes / (2 << level)
            yield Send(Message(0, rank, other), part)
            yield Receive(Message(0, other, rank), part if is_reducing else 0)

    return (program(rank) for rank in range(ranks))


def tree(machine: Machine, ranks: int, nbytes: float) -> Iterator[Program]:
    """Yield two binary trees with half of the bytes each, in chunks, up and then down (Sanders, Speck and Träff).

    A rank that has children in one tree has none in the other.
    """
    count = chunks_of(machine, ranks, nbytes)
    for number in range(2):
        yield from _Tree(ranks, nbytes / 2 / count, count, number).programs()


class _Tree:
    """One of the two trees: the second has the ranks in reverse, so that its leaves are the other ranks."""

    def __init__(self, ranks: int, chunk: float, count: int, number: int) -> None:
        self._ranks, self._chunk, self._count, self._number = ranks, chunk, count, number
        self._children: dict[int, list[int]] = {place: [] for place in range(ranks)}
        for place in range(1, ranks):
            self._children[parent_of(place, ranks)].append(place)

    def programs(self) -> Iterator[Program]:
        """Yield what each place does: upwards, but for the root, and downwards."""
        for place in range(self._ranks):
            if place:
                yield self._up(place)
            yield self._down(place)

    def _up(self, place: int) -> Program:
        for _ in range(self._count):
            yield from self._gathered(place)
            yield Send(self._message(0, place, parent_of(place, self._ranks)), self._chunk)

    def _down(self, place: int) -> Program:
        for _ in range(self._count):
            if place:
                yield Receive(self._message(1, parent_of(place, self._ranks), place))
            else:
                yield from self._gathered(0)
            for child in self._children[place]:
                yield Send(self._message(1, place, child), self._chunk)

    def _gathered(self, place: int) -> Iterator[Receive]:
        for child in self._children[place]:
            yield Receive(self._message(0, child, place), self._chunk)

    def _message(self, direction: int, source: int, target: int) -> Message:
        last = self._ranks - 1
        ends = (last - source, last - target) if self._number else (source, target)
        return Message(2 * self._number + direction, *ends)


def parent_of(place: int, ranks: int) -> int:
    """Return the parent of a place above 0 in a binary tree over 0, 1, ...: odd places are leaves, neighbours are near."""
    bit = place & -place
    parent = (place ^ bit) | (bit << 1)
    return parent if parent < ranks else place ^ bit


def depth_of(ranks: int) -> int:
    """Return the logarithm of a power of two. Raises ValueError for another number."""
    if ranks < 1 or ranks & (ranks - 1):
        message = f"ranks are {ranks}, needs a power of two"
        raise ValueError(message)
    return ranks.bit_length() - 1


def chunks_of(machine: Machine, ranks: int, nbytes: float) -> int:
    """Return into how many chunks a tree's half is cut: as many as make 2 depth (latency + time of a chunk) + gaps least."""
    link = machine.far
    best = math.sqrt(depth_of(ranks) * nbytes / link.bandwidth / (4 * link.gap)) if link.gap else _MOST_CHUNKS
    return max(1, min(_MOST_CHUNKS, round(best)))


SCHEDULES: Final[Mapping[str, Callable[[Machine, int, float], Iterator[Program]]]] = {
    "ring": ring,
    "doubling": doubling,
    "halving": halving,
    "tree": tree,
}
"""By the names that the page has."""
