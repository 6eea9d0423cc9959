"""An Exchange is one collective under way at this rank: its letters, its messages, and whom it waits for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_collectives.carrier.failure import Part, named
from ep_collectives.mpi.letter import MEET, key_of, packed
from ep_collectives.mpi.places import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import ep
    from ep_collectives.carrier.launch import Task
    from ep_collectives.mpi.letter import Letter
    from ep_collectives.mpi.peers import Peers
    from ep_collectives.mpi.places import Places, Span

    Steps = Iterator[None]

__all__ = ["Exchange", "Pending", "together", "windowed"]

_LOOK_SECONDS: Final = 0.1
"""From one look at whether the processes that are waited for live to the next."""
_WORDS: Final = 8
"""How often within the timeout a rank that waits says that it lives: who waits for it blames whom it waits for."""


class Pending(NamedTuple):
    """A message that was given up.

    kept : what it reads or writes
    """

    request: Any
    rank: int
    is_receive: bool
    kept: Any


class Exchange:
    """A collective of some ranks. Steps of it are generators, which yield where they wait, so that one thread does many.

    memories  : of the operands, in their order, and scratch
    places    : what letters bring and take
    pace      : changes whenever it gets on
    tag       : of this rank's first data message
    abandoned : messages that were given up
    """

    def __init__(self, task: Task, lane: ep.spi.Stream, places: Places, tags: int) -> None:
        self._turn, self.kernel, self.memories, _ = task
        self.peers: Peers = self.kernel.communicator.peers
        self.lane, self.places = lane, places
        self.key = key_of(self._turn)
        self.others = self.peers.others_of(self._turn.ranks)
        self.tag = self.peers.wire.tags(tags) if tags else 0
        self.pace = 0
        self.abandoned: list[Pending] = []
        self._letters = self.peers.letters(self.key)
        self._is_meeting = True
        self._waits: dict[int, int] = {}
        self._sent: list[tuple[Any, int, bytes]] = []
        self._seen = -1
        self._end = self._next_look = self._next_word = 0.0

    @property
    def part(self) -> Part:
        """This rank's part, as errors name it."""
        return Part(self.peers.rank, self._turn.number, self.kernel.collective)

    def bytes_of(self, span: Span) -> ep.Memory:
        """Return the bytes of a span of an operand."""
        return bytes_of(self.kernel.collective, self.memories, span)

    def announce(self, write: Callable[[int], tuple[int, Any]]) -> None:
        """Send a letter to each other rank.

        write : returns for a rank how many elements it is sent, and what the letter carries
        """
        peers, said = self.peers, self.kernel.agreement
        for rank in self.others:
            elements, payload = write(rank)
            text = packed(MEET, peers.address, self.key, self.tag, elements, said, payload)
            self._sent.append((peers.wire.post(peers.ranks[rank], text), rank, text))

    def meet(self) -> Steps:
        """Wait for the letters of all other ranks. Raises CommunicatorError if they do not agree with this one's."""
        while len(self._letters) < len(self.others):
            yield
        for rank in self.others:
            letter = self.letter(rank)
            if letter.said != self.kernel.agreement:
                mine = f"{self.kernel.collective.agreement} as {self.part}"
                its = f"{letter.said.decode()} as number {self.key[0]} of rank {rank}"
                both = [mine, its] if self.part.rank < rank else [its, mine]
                self.disagree(f"the ranks do not agree: {' and '.join(both)}", rank)
        self._is_meeting = False
        self.pace += 1

    def give_up(self) -> None:
        """Leave the letters that have not gone yet to the wire."""
        while self._sent:
            request, _, text = self._sent.pop()
            self.peers.wire.adopt(request, text)

    def depart(self) -> Steps:
        """Wait until this rank's letters have gone."""
        while self._sent:
            request, rank, text = self._sent.pop()
            yield from self.wait(request, rank, text)

    def letter(self, rank: int) -> Letter:
        """Return the letter of a rank that has come."""
        letter: Letter = self._letters[self.peers.ranks[rank]]
        return letter

    def disagree(self, sentence: str, rank: int) -> None:
        """Break the communicator, and raise its error, because another rank does not agree with this one."""
        self.peers.fail(sentence, sorted((self.part.rank, rank)))
        self.check()

    def send(self, view: Any, rank: int, tag: int) -> Steps:
        """Send bytes, and wait until they may be written again."""
        wire = self.peers.wire
        yield from self.wait(wire.comm.Isend([view, wire.mpi.BYTE], self.peers.ranks[rank], tag), rank, view)

    def receive(self, view: Any, rank: int, tag: int) -> Steps:
        """Receive as many bytes as a view has."""
        wire = self.peers.wire
        request = wire.comm.Irecv([view, wire.mpi.BYTE], self.peers.ranks[rank], tag)
        yield from self.wait(request, rank, view, is_receive=True)

    def wait(self, request: Any, rank: int, kept: Any, *, is_receive: bool = False) -> Steps:
        """Wait for a message."""
        self._waits[rank] = self._waits.get(rank, 0) + 1
        try:
            while not request.Test():
                yield
        except self.peers.wire.mpi.Exception as error:  # of a process that has ended its memory cannot be read
            self._lose(rank, error)
        except BaseException:
            self.abandoned.append(Pending(request, rank, is_receive, (kept, self.memories)))
            raise
        finally:
            self._waits[rank] -= 1
        self.pace += 1

    def _lose(self, rank: int, error: Exception) -> None:
        """Break the communicator, and raise its error, because MPI does not bring a message from a rank or to it."""
        reason = (
            "its process has ended" if self.peers.wire.is_gone(self.peers.ranks[rank]) else str(error).splitlines()[-1]
        )
        self.peers.fail(f"{named([rank])} was lost in {self.part}: {reason}", [rank], [rank])
        self.check()

    def check(self) -> None:
        """Raise CommunicatorError if the communicator is broken, also by ranks that this one waits for."""
        peers = self.peers
        now = time.monotonic()
        if self._seen != self.pace:
            self._seen, self._end = self.pace, now + peers.timeout
            self._next_look, self._next_word = now + _LOOK_SECONDS, now + peers.timeout / _WORDS
        elif now > self._next_look:
            self._next_look = now + _LOOK_SECONDS
            if now > self._next_word:
                self._next_word = now + peers.timeout / _WORDS
                peers.say_alive()
            self._look(late=now > self._end)
        if peers.look() is not None:
            raise peers.error(self.part)  # type: ignore[misc]  # there is one

    def _look(self, *, late: bool) -> None:
        """Break the communicator if those who are waited for have left, or are late."""
        peers, awaited = self.peers, self._awaited()
        closed = peers.closed()
        left = [rank for rank in awaited if rank in closed]
        gone = [rank for rank in awaited if rank not in closed and peers.wire.is_gone(peers.ranks[rank])]
        if gone:
            peers.wire.pump()  # it may have told why before it ended
            peers.fail(f"the process of {named(gone)} ended before {self.part} was done", gone, gone)
        elif left and self._is_meeting:
            peers.fail(f"{named(left)} closed the communicator without coming to {self.part}", left)
        elif late and awaited:
            recently = max(peers.timeout / 2, 3 * _LOOK_SECONDS)
            silent = [rank for rank in awaited if not peers.is_alive(rank, recently)]
            if self._is_meeting:
                peers.missed(awaited, self.part, self.key, silent)
            else:
                slow = silent or awaited
                peers.fail(f"{named(slow)} did not get on in {self.part} for {peers.timeout:g} s", slow, silent)

    def _awaited(self) -> list[int]:
        if self._is_meeting:
            return [rank for rank in self.others if self.peers.ranks[rank] not in self._letters]
        return sorted(rank for rank, count in self._waits.items() if count)


def together(steps: Sequence[Steps]) -> Steps:
    """Go through several steps at once."""
    running = [*steps]
    try:
        while running:
            for each in [*running]:
                try:
                    next(each)
                except StopIteration:
                    running.remove(each)
            if running:
                yield
    finally:
        for each in running:
            each.close()  # type: ignore[attr-defined]  # they are generators


def windowed(steps: Iterator[Steps], most: int) -> Steps:
    """Go through steps in their order, at most so many at once."""
    running: list[Steps] = []
    try:
        while True:
            while len(running) < most and (fresh := next(steps, None)) is not None:
                running.append(fresh)
            if not running:
                return
            for each in [*running]:
                try:
                    next(each)
                except StopIteration:
                    running.remove(each)
            yield
    finally:
        for each in running:
            each.close()  # type: ignore[attr-defined]  # they are generators
