"""What a rank sends, receives and reduces in a collective that reduces: terms in the order of the ranks, whatever the op."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ep_collectives.carrier.reducer import Reducers
from ep_collectives.descriptors.reducing import AllReduce, ReduceScatter
from ep_collectives.mpi.exchange import together, windowed
from ep_collectives.mpi.moving import INLINE, WINDOW, Span, cut, part
from ep_collectives.mpi.port import PIECE

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

    Of little, every rank sends its terms to all that want the result, with its letter, and these reduce them. Of much, each
    rank reduces a part, piece by piece: it receives the terms, reduces them, and sends the result to whoever wants it.

    tags           : that its data messages take
    scratch_nbytes : of the pieces' terms, and of the kernels
    """

    def __init__(self, collective: ep.Collective, rank: int, size: int, device: ep.Device) -> None:
        spec: Any = collective.specs[0]
        self._collective, self._rank, self._size = collective, rank, size
        self._itemsize = spec.itemsize
        self._scatters = isinstance(collective, ReduceScatter)
        counts = spec.size // size if self._scatters else spec.size
        self._is_little = counts * spec.itemsize <= INLINE
        self._parts = [self._part_of(other, spec.size) for other in range(size)]
        most = max(count for _, _, count in self._parts)
        self._step = max(1, min(PIECE // self._itemsize, most))
        self._pieces = -(-most // self._step)
        self.tags = 0 if self._is_little else 2 * self._pieces
        self._reducers = Reducers(collective.op, spec.dtype, size, device)
        self._lay_out(self._parts[rank].length, device.info.alignment)

    def _lay_out(self, count: int, alignment: int) -> None:
        """Divide the scratch: for each slot the terms, the result, and what the kernels need."""
        # Both lengths that pieces have are asked for now: what the device lacks shows before anything is enqueued.
        lengths = {min(self._step, count), count % self._step} - {0}
        inner = max([self._reducers.of(length).scratch_nbytes for length in lengths], default=0)

        def aligned(nbytes: int) -> int:
            return -(-nbytes // alignment) * alignment

        self._result = aligned(self._size * self._step * self._itemsize)
        self._inner = self._result + aligned(self._step * self._itemsize)
        self._slot = aligned(self._inner + inner)
        self.scratch_nbytes = (1 if self._is_little else _SLOTS) * self._slot if count else 0

    def _part_of(self, rank: int, size: int) -> Span:
        """Return the elements that a rank reduces."""
        if self._scatters:
            return Span("x", rank * (size // self._size), size // self._size)
        if self._is_little:
            return Span("x", 0, size if rank in self._takers(rank) else 0)
        begin, end = size * rank // self._size, size * (rank + 1) // self._size
        return Span("x", begin, end - begin)

    def _takers(self, reducer: int) -> tuple[int, ...]:
        """Return the ranks that want what a rank has reduced."""
        if self._scatters:
            return (reducer,)
        if isinstance(self._collective, AllReduce):
            return tuple(range(self._size))
        return (self._collective.root,)  # type: ignore[attr-defined]  # it is a Reduce

    def write(self, exchange: Exchange, port: Port, rank: int) -> tuple[int, Any]:
        """Return what the letter to a rank carries: the terms that it reduces, if they are few."""
        span = self._parts[rank]
        return 0, port.read(part(exchange, span)) if self._is_little and span.length else b""

    def steps(self, exchange: Exchange, port: Port) -> Steps:
        """Reduce, when all have come."""
        if self._is_little:
            if self._parts[self._rank].length:
                yield from self._reduce_little(exchange, port)
            return
        jobs = [windowed(self._giving(exchange, port, rank), WINDOW) for rank in exchange.others]
        jobs.append(windowed(self._folding(exchange, port), _SLOTS))
        yield from together(jobs)

    def _reduce_little(self, exchange: Exchange, port: Port) -> Steps:
        span = self._parts[self._rank]
        for rank in exchange.others:
            port.write(self._row(exchange, 0, rank, span.length), exchange.letter(rank).payload)
        self._run(exchange, port, 0, span)
        yield from port.reached()

    def _giving(self, exchange: Exchange, port: Port, rank: int) -> Iterator[Steps]:
        """Yield, for each piece of what another rank reduces, the steps of this one."""
        for number, piece in enumerate(cut(self._parts[rank], self._step)):
            yield self._give(exchange, port, rank, number, piece)

    def _give(self, exchange: Exchange, port: Port, rank: int, number: int, piece: Span) -> Steps:
        yield from port.send(part(exchange, piece), rank, exchange.tag + number)
        if self._rank in self._takers(rank):  # the result may be where the term was
            target = part(exchange, piece._replace(name="out"))
            yield from port.receive(target, rank, exchange.letter(rank).tag + self._pieces + number)

    def _folding(self, exchange: Exchange, port: Port) -> Iterator[Steps]:
        """Yield the steps of each piece that this rank reduces."""
        slots = deque(range(_SLOTS))
        for number, piece in enumerate(cut(self._parts[self._rank], self._step)):
            yield self._fold(exchange, port, slots, number, piece)

    def _fold(self, exchange: Exchange, port: Port, slots: deque[int], number: int, piece: Span) -> Steps:
        slot = slots.popleft()
        yield from together(
            [
                port.receive(self._row(exchange, slot, rank, piece.length), rank, exchange.letter(rank).tag + number)
                for rank in exchange.others
            ]
        )
        result = self._run(exchange, port, slot, piece)
        yield from port.reached()
        tag = exchange.tag + self._pieces + number
        takers = [rank for rank in self._takers(self._rank) if rank != self._rank]
        yield from together([port.send(result, rank, tag) for rank in takers])
        slots.append(slot)

    def _run(self, exchange: Exchange, port: Port, slot: int, piece: Span) -> ep.Memory:
        """Reduce a piece whose other terms are in the slot; return the result, in this rank's operand if it wants it."""
        reducer, nbytes = self._reducers.of(piece.length), piece.length * self._itemsize
        scratch = exchange.memories[-1]
        terms = [self._row(exchange, slot, rank, piece.length) for rank in range(self._size)]
        mine = part(exchange, piece)
        if reducer.reaches:
            terms[self._rank] = mine
        else:
            port.copy(terms[self._rank], mine)
            terms = [scratch._part(slot * self._slot, self._size * nbytes)]
        between = scratch._part(slot * self._slot + self._result, nbytes)
        result = self._target(exchange, piece) or between
        inner = scratch._part(slot * self._slot + self._inner, reducer.scratch_nbytes)
        reducer.run(exchange.lane, terms, result, between, inner, self._size)
        return result

    def _target(self, exchange: Exchange, piece: Span) -> ep.Memory | None:
        """Return where the result of a piece belongs at this rank, None if it does not want it."""
        if self._rank not in self._takers(self._rank):
            return None
        if not self._scatters:
            return part(exchange, piece._replace(name="out"))
        if "out" not in self._collective.operands:
            return part(exchange, piece)
        return part(exchange, Span("out", piece.begin - self._parts[self._rank].begin, piece.length))

    def _row(self, exchange: Exchange, slot: int, rank: int, count: int) -> ep.Memory:
        """Return where the term of a rank comes to in a slot."""
        nbytes = count * self._itemsize
        return exchange.memories[-1]._part(slot * self._slot + rank * nbytes, nbytes)
