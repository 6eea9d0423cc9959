"""What a rank sends and receives in a collective that moves elements."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv, Send
from ep_collectives.descriptors.spreading import AllGather, Broadcast
from ep_collectives.mpi.exchange import together, windowed
from ep_collectives.mpi.places import INLINE, Places, Span, Spot, bytes_of, cut
from ep_collectives.mpi.port import PIECE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import ep
    from ep_collectives.mpi.exchange import Exchange, Steps
    from ep_collectives.mpi.port import Port

__all__ = ["WINDOW", "Moving"]

WINDOW: Final = 3
"""Messages under way at once from one rank to another."""


class _Moves(NamedTuple):
    """What goes to which rank, what comes from which, and what stays at this one."""

    sends: Mapping[int, Span]
    receives: Mapping[int, Span]
    kept: tuple[tuple[Span, Span], ...] = ()


class Moving:
    """One rank's part in a collective that moves elements: AllGather, Broadcast, AllToAll, Send, Recv.

    tags           : that its data messages take
    scratch_nbytes : 0
    """

    scratch_nbytes = 0

    def __init__(self, collective: ep.Collective, rank: int, size: int) -> None:
        self._collective, self._rank, self._size = collective, rank, size
        self._moves = _moves_of(collective, rank, size)
        self._itemsize = collective.specs[0].itemsize if collective.specs else 1
        self._step = max(1, PIECE // self._itemsize)
        spans = [*self._moves.sends.values(), *self._moves.receives.values()]
        self.tags = max((-(-span.length // self._step) for span in spans), default=0)

    def places(self, memories: tuple[ep.Memory, ...], *, is_step: bool) -> Places:
        """Return what letters bring and take, and what stays at this rank."""
        del is_step
        moves, reach = self._moves, partial(bytes_of, self._collective, memories)
        sends = {rank: Spot.of(reach(span)) for rank, span in moves.sends.items() if self._is_little(span)}
        receives = {rank: Spot.of(reach(span)) for rank, span in moves.receives.items() if self._is_little(span)}
        return Places(sends, receives, [(reach(target), reach(source)) for target, source in moves.kept])

    def write(self, exchange: Exchange, port: Port, rank: int) -> tuple[int, Any]:
        """Return how many elements a rank is sent, and what the letter to it carries."""
        span, spot = self._moves.sends.get(rank), exchange.places.sends.get(rank)
        return 0 if span is None else span.length, b"" if spot is None else port.read(spot)

    def steps(self, exchange: Exchange, port: Port) -> Steps:
        """Move what is to be moved, when all have come."""
        self._check_counts(exchange)
        port.take_letters()
        if self._forwards:
            yield from self._forward(exchange, port)
            return
        yield from together(
            [
                windowed(move, WINDOW)
                for rank in exchange.others
                for move in (self._sending(exchange, port, rank), self._receiving(exchange, port, rank))
            ]
        )

    def _check_counts(self, exchange: Exchange) -> None:
        """Break the communicator if a rank sends another number of elements than this one takes."""
        if not isinstance(self._collective, AllToAll):
            return
        for rank in exchange.others:
            span, sent = self._moves.receives.get(rank), exchange.letter(rank).elements
            taken = 0 if span is None else span.length
            if sent != taken:
                sentence = f"the ranks do not agree: rank {rank} sends {sent} elements to rank {self._rank}, which takes {taken}"
                exchange.disagree(sentence, rank)

    def _is_little(self, span: Span) -> bool:
        return span.length * self._itemsize <= INLINE

    def _sending(self, exchange: Exchange, port: Port, rank: int) -> Iterator[Steps]:
        span = self._moves.sends.get(rank)
        if span is not None and not self._is_little(span):
            for number, piece in enumerate(cut(span, self._step)):
                yield port.send(exchange.bytes_of(piece), rank, exchange.tag + number)

    def _receiving(self, exchange: Exchange, port: Port, rank: int) -> Iterator[Steps]:
        span = self._moves.receives.get(rank)
        if span is not None and not self._is_little(span):
            first = exchange.letter(rank).tag
            for number, piece in enumerate(cut(span, self._step)):
                yield port.receive(exchange.bytes_of(piece), rank, first + number)

    # A Broadcast of much to several: the root sends each of them a part, which it sends on to the others.

    @property
    def _forwards(self) -> bool:
        collective = self._collective
        return isinstance(collective, Broadcast) and self._size > 2 and not self._is_little(_whole(collective, "x"))  # noqa: PLR2004 - to one there is nothing to send on

    def _forward(self, exchange: Exchange, port: Port) -> Steps:
        root = self._collective.root  # type: ignore[attr-defined]  # it is a Broadcast
        whole = _whole(self._collective, "x")
        takers = [rank for rank in range(self._size) if rank != root]
        spans = {
            rank: Span("x", whole.length * place // len(takers), 0)._replace(
                length=whole.length * (place + 1) // len(takers) - whole.length * place // len(takers)
            )
            for place, rank in enumerate(takers)
        }
        first = exchange.tag

        def give(rank: int) -> Iterator[Steps]:
            for number, piece in enumerate(cut(spans[rank], self._step)):
                yield port.send(exchange.bytes_of(piece), rank, first + number)

        def take(rank: int) -> Iterator[Steps]:
            for number, piece in enumerate(cut(spans[rank], self._step)):
                yield port.receive(exchange.bytes_of(piece), rank, exchange.letter(rank).tag + number)

        def pass_on() -> Iterator[Steps]:
            for number, piece in enumerate(cut(spans[self._rank], self._step)):
                yield pass_piece(number, piece)

        def pass_piece(number: int, piece: Span) -> Steps:
            memory = exchange.bytes_of(piece)
            yield from port.receive(memory, root, exchange.letter(root).tag + number)
            yield from together([port.send(memory, rank, first + number) for rank in takers if rank != self._rank])

        if self._rank == root:
            jobs = [windowed(give(rank), WINDOW) for rank in takers]
        else:
            jobs = [windowed(take(rank), WINDOW) for rank in takers if rank != self._rank]
            jobs.append(windowed(pass_on(), WINDOW))
        yield from together(jobs)


def _whole(collective: ep.Collective, name: str) -> Span:
    return Span(name, 0, collective.specs[collective.operands.index(name)].size)


@lru_cache(1024)
def _moves_of(collective: ep.Collective, rank: int, size: int) -> _Moves:
    others = [other for other in range(size) if other != rank]
    match collective:
        case Broadcast():
            whole = _whole(collective, "x")
            if rank == collective.root:
                return _Moves(dict.fromkeys(others, whole), {})
            return _Moves({}, {collective.root: whole})
        case AllGather():
            count = _whole(collective, "out").length // size
            parts = [Span("out", other * count, count) for other in range(size)]
            mine = Span("x", 0, count) if "x" in collective.operands else parts[rank]
            kept = ((parts[rank], mine),) if "x" in collective.operands else ()
            return _Moves(dict.fromkeys(others, mine), {other: parts[other] for other in others}, kept)
        case AllToAll():
            sends, receives = collective.counts(size)
            to = _spans("x", sends)
            come = _spans("out", receives)
            kept = ((come[rank], to[rank]),) if rank in to and rank in come else ()
            away = {other: to[other] for other in others if other in to}
            return _Moves(away, {other: come[other] for other in others if other in come}, kept)
        case Send():
            return _Moves({collective.peer: _whole(collective, "x")}, {})
        case Recv():
            return _Moves({}, {collective.peer: _whole(collective, "out")})
    raise NotImplementedError(collective.family)


def _spans(name: str, counts: tuple[int, ...]) -> dict[int, Span]:
    """Return the elements for each rank that has any."""
    spans, begin = {}, 0
    for rank, count in enumerate(counts):
        if count:
            spans[rank] = Span(name, begin, count)
        begin += count
    return spans
