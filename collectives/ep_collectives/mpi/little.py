"""What a rank sends, receives and reduces in a reduction of little: every rank's term goes with its letters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep_collectives.carrier.reducer import Reducers
from ep_collectives.carrier.room import Room
from ep_collectives.mpi.places import Places, Spot, bytes_of
from ep_collectives.mpi.results import result_of, wanted

if TYPE_CHECKING:
    import ep
    from ep_collectives.mpi.exchange import Exchange, Steps
    from ep_collectives.mpi.port import Port

__all__ = ["LITTLE", "Little"]

LITTLE: Final = 128 << 10
"""Bytes of the terms of all ranks up to which each rank that wants the result is sent all of them, with the letters."""


class Little:
    """One rank's part in AllReduce, ReduceScatter or Reduce: all that want the result reduce the terms themselves.

    tags           : 0, the number of its data messages
    scratch_nbytes : of the terms, and of the kernels
    """

    tags = 0

    def __init__(self, collective: ep.Collective, rank: int, size: int, device: ep.Device) -> None:
        spec: Any = collective.specs[0]
        self._collective, self._rank = collective, rank
        self._spans = {other: wanted(collective, other, size) for other in range(size)}
        self._reducers = Reducers(collective.op, spec.dtype, size, device)
        self._room = Room.of(self._reducers, [self._spans[rank].length])
        self.scratch_nbytes = self._room.nbytes

    def places(self, memories: tuple[ep.Memory, ...], *, is_step: bool) -> Places:
        """Return what letters bring and take.

        is_step : the same memories come again, so that kernels are bound to them
        """
        rank, mine, reach = self._rank, self._spans[self._rank], partial(bytes_of, self._collective, memories)
        others = [other for other in self._spans if other != rank]
        sends = {other: Spot.of(reach(span)) for other in others if (span := self._spans[other]).length}
        if not mine.length:
            return Places(sends, {})
        room, scratch, own = self._room, memories[-1], reach(mine)
        reducer = self._reducers.of(mine.length)
        terms = [room.row(scratch, other, mine.length) for other in self._spans]
        receives = {other: Spot.of(terms[other]) for other in others}
        kept = [] if reducer.reaches else [(terms[rank], own)]
        if reducer.reaches:
            terms[rank] = own
        result = reach(result_of(self._collective, mine, mine.begin))
        kernels = room.kernels(scratch, reducer, terms, result, mine.length, is_step=is_step)
        return Places(sends, receives, kept, kernels)

    def write(self, exchange: Exchange, port: Port, rank: int) -> tuple[int, Any]:
        """Return what the letter to a rank carries: the terms that it reduces."""
        spot = exchange.places.sends.get(rank)
        return 0, b"" if spot is None else port.read(spot)

    def steps(self, exchange: Exchange, port: Port) -> Steps:
        """Reduce, when all have come."""
        port.take_letters()
        for run, memories, numbers in exchange.places.kernels:
            run(exchange.lane, memories, numbers)
        yield from port.reached()
