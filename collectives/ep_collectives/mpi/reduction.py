"""What a rank sends, receives and reduces in a reduction of much: each rank reduces a part."""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ep_collectives.carrier.reducer import Reducers
from ep_collectives.carrier.room import Room
from ep_collectives.mpi.exchange import together, windowed
from ep_collectives.mpi.moving import WINDOW
from ep_collectives.mpi.places import Places, Span, cut
from ep_collectives.mpi.port import PIECE
from ep_collectives.mpi.results import result_of, takers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import ep
    from ep_collectives.mpi.exchange import Exchange, Steps
    from ep_collectives.mpi.port import Port

__all__ = ["Reduction"]

_SLOTS = 2
"""Pieces that are reduced at once: one's terms come while another's are reduced."""


class Reduction:
    """One rank's part in AllReduce, ReduceScatter or Reduce.

    Each rank reduces a part, piece by piece: it receives the terms, reduces them, and sends the result to whoever wants it.

    tags           : that its data messages take
    scratch_nbytes : of the pieces' terms, and of the kernels
    """

    def __init__(self, collective: ep.Collective, rank: int, size: int, device: ep.Device) -> None:
        spec: Any = collective.specs[0]
        self._collective, self._rank, self._size = collective, rank, size
        ends = [spec.size * each // size for each in range(size + 1)]
        self._parts = [Span("x", begin, end - begin) for begin, end in pairwise(ends)]
        most = max(count for _, _, count in self._parts)
        self._step = max(1, min(PIECE // spec.itemsize, most))
        self._pieces = -(-most // self._step)
        self.tags = 2 * self._pieces
        self._reducers = Reducers(collective.op, spec.dtype, size, device)
        count = self._parts[rank].length
        self._room = Room.of(self._reducers, {min(self._step, count), count % self._step})
        self.scratch_nbytes = _SLOTS * self._room.nbytes

    def places(self, memories: tuple[ep.Memory, ...], *, is_step: bool) -> Places:
        """Return what letters bring and take: nothing."""
        del memories, is_step
        return Places({}, {})

    def write(self, exchange: Exchange, port: Port, rank: int) -> tuple[int, Any]:
        """Return what the letter to a rank carries: nothing."""
        del exchange, port, rank
        return 0, b""

    def steps(self, exchange: Exchange, port: Port) -> Steps:
        """Reduce, when all have come."""
        jobs = [windowed(self._giving(exchange, port, rank), WINDOW) for rank in exchange.others]
        jobs.append(windowed(self._folding(exchange, port), _SLOTS))
        yield from together(jobs)

    def _giving(self, exchange: Exchange, port: Port, rank: int) -> Iterator[Steps]:
        """Yield, for each piece of what another rank reduces, the steps of this one."""
        for number, piece in enumerate(cut(self._parts[rank], self._step)):
            yield self._give(exchange, port, rank, number, piece)

    def _give(self, exchange: Exchange, port: Port, rank: int, number: int, piece: Span) -> Steps:
        yield from port.send(exchange.bytes_of(piece), rank, exchange.tag + number)
        if self._rank in takers(self._collective, rank, self._size):  # the result may be where the term was
            target = exchange.bytes_of(result_of(self._collective, piece, 0))
            yield from port.receive(target, rank, exchange.letter(rank).tag + self._pieces + number)

    def _folding(self, exchange: Exchange, port: Port) -> Iterator[Steps]:
        """Yield the steps of each piece that this rank reduces."""
        slots = deque(range(_SLOTS))
        for number, piece in enumerate(cut(self._parts[self._rank], self._step)):
            yield self._fold(exchange, port, slots, number, piece)

    def _fold(self, exchange: Exchange, port: Port, slots: deque[int], number: int, piece: Span) -> Steps:
        slot = slots.popleft()
        row = partial(self._room.row, self._scratch(exchange, slot), count=piece.length)
        yield from together(
            [port.receive(row(rank), rank, exchange.letter(rank).tag + number) for rank in exchange.others]
        )
        result = self._run(exchange, port, slot, piece)
        yield from port.reached()
        tag = exchange.tag + self._pieces + number
        others = [rank for rank in takers(self._collective, self._rank, self._size) if rank != self._rank]
        yield from together([port.send(result, rank, tag) for rank in others])
        slots.append(slot)

    def _run(self, exchange: Exchange, port: Port, slot: int, piece: Span) -> ep.Memory:
        """Reduce a piece whose other terms are in the slot; return the result, in this rank's operand if it wants it."""
        reducer, room, count = self._reducers.of(piece.length), self._room, piece.length
        scratch = self._scratch(exchange, slot)
        terms = [room.row(scratch, rank, count) for rank in range(self._size)]
        mine = exchange.bytes_of(piece)
        if reducer.reaches:
            terms[self._rank] = mine
        else:
            port.copy(terms[self._rank], mine)
        result = self._target(exchange, piece) or room.between(scratch, count)
        for run, memories, numbers in room.kernels(scratch, reducer, terms, result, count):
            run(exchange.lane, memories, numbers)
        return result

    def _target(self, exchange: Exchange, piece: Span) -> ep.Memory | None:
        """Return where the result of a piece belongs at this rank, None if it does not want it."""
        if self._rank not in takers(self._collective, self._rank, self._size):
            return None
        return exchange.bytes_of(result_of(self._collective, piece, self._parts[self._rank].begin))

    def _scratch(self, exchange: Exchange, slot: int) -> ep.Memory:
        return exchange.memories[-1]._part(slot * self._room.nbytes, self._room.nbytes)
