"""A rank's share, done: pieces of elements are reduced by kernels of its device, and copied where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_collectives.carrier.reducer import Reducers
from ep_collectives.carrier.room import Room
from ep_collectives.local.share import fold_of, longest, pulls_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import ep
    from ep_collectives.carrier.room import Run
    from ep_collectives.local.circle import Post
    from ep_collectives.local.share import Fold
    from ep_collectives.local.transport import Transport

__all__ = ["Folding", "pull"]

PIECE: Final = 1 << 20
"""Bytes of a term that are reduced at once where terms are copied into scratch first, so that they are in the cache then.

Smaller ones would keep the threads of the ranks waiting for the interpreter's lock, which each kernel gives up and takes.
"""
STRETCH: Final = 32 << 20
"""Bytes that are added where they lie, or copied, at once, between two looks at whether the communicator was broken.

So long that the CPU's kernels write past the caches.
"""


class _Piece(NamedTuple):
    """How a piece is reduced.

    before, after : targets and sources that are copied before and after the kernels
    """

    before: list[tuple[ep.Memory, ep.Memory]]
    kernels: list[Run]
    after: list[tuple[ep.Memory, ep.Memory]]


class Folding:
    """How a rank reduces its part.

    Terms are reduced where they lie, if the kernels take them there and the device reaches them; else they are copied into
    scratch: see `Reducers`.

    fold   : the part
    nbytes : the scratch that a share needs
    """

    def __init__(self, collective: ep.Collective, rank: int, size: int, device: ep.Device) -> None:
        spec: Any = collective.specs[0]
        self._rank, self._size, self._device = rank, size, device
        fold: Fold = fold_of(collective, rank, size)  # type: ignore[assignment]  # of a collective that reduces
        # The first on this device gets the result at once, and all others a copy.
        self.fold = fold._replace(targets=tuple(sorted(fold.targets, key=lambda place: place.rank != rank)))
        self._step = max(1, min(PIECE // spec.itemsize, longest(collective, size)))
        self._stretch = max(self._step, STRETCH // spec.itemsize)
        self._reducers = Reducers(collective.op, spec.dtype, size, device)
        extent = self.fold.end - self.fold.begin
        # Both lengths that pieces have are asked for now: what the device lacks shows before anything is enqueued.
        self._room = Room.of(self._reducers, {min(self._step, extent), extent % self._step})
        self.nbytes = self._room.nbytes

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to reduce."""
        return self.fold.begin == self.fold.end

    def do(self, posts: Mapping[int, Post], transport: Transport, scratch: ep.Memory, step: Callable[[], None]) -> None:
        """Reduce the part, piece by piece.

        step : called after each piece; raises if the communicator was broken
        """
        begin, end, _ = self.fold
        if end - begin <= self._step:
            _perform(self._whole(posts, scratch), transport)
            step()
            return
        longest_piece = self._stretch if self._is_direct(posts) else self._step
        for first in range(begin, end, longest_piece):
            _perform(self._piece(posts, scratch, first, min(longest_piece, end - first)), transport)
            step()

    def _whole(self, posts: Mapping[int, Post], scratch: ep.Memory) -> _Piece:
        """Return the part as one piece; steps keep it."""
        begin, end, _ = self.fold
        steps = [bound for rank in range(self._size) if (bound := posts[rank].bound) is not None]
        if len(steps) < self._size:
            return self._piece(posts, scratch, begin, end - begin)
        mine = steps[self._rank]
        piece: _Piece | None = mine.fold_of(steps)
        if piece is None:
            piece = self._piece(posts, scratch, begin, end - begin, is_step=True)
            mine.keep(steps, piece)
        return piece

    def _piece(
        self, posts: Mapping[int, Post], scratch: ep.Memory, begin: int, count: int, *, is_step: bool = False
    ) -> _Piece:
        """Return how a piece is reduced."""
        reducer, room, device = self._reducers.of(count), self._room, self._device
        terms, before, reaches = self.terms(posts, begin, count), [], reducer.reaches
        for rank, term in enumerate(terms):
            if not reaches or term.device is not device:
                terms[rank] = room.row(scratch, rank, count)
                before.append((terms[rank], term))
        passed = begin - self.fold.begin
        targets = [part(posts[rank], name, first + passed, count) for rank, name, first in self.fold.targets]
        here = [target for target in targets if target.device is device]
        result = here[0] if here else room.between(scratch, count)
        kernels = room.kernels(scratch, reducer, terms, result, count, is_step=is_step)
        return _Piece(before, kernels, [(target, result) for target in targets if target is not result])

    def terms(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        """Return the elements of a piece at each rank, in the order of the ranks."""
        return [part(posts[rank], "x", begin, count) for rank in range(self._size)]

    def _is_direct(self, posts: Mapping[int, Post]) -> bool:
        """Say whether no piece needs scratch: all ranks are on this rank's device, and the terms are added where they lie."""
        if any(memory.device is not self._device for post in posts.values() for memory in post.memories):
            return False
        reducer = self._reducers.of(min(self._stretch, max(1, self.fold.end - self.fold.begin)))
        return reducer.reaches and not reducer.needs_room


def _perform(piece: _Piece, transport: Transport) -> None:
    before, kernels, after = piece
    for target, source in before:
        transport.move(target, source)
    for run, memories, numbers in kernels:
        run(transport.lane, memories, numbers)
    for target, source in after:
        transport.move(target, source)


def pull(rank: int, posts: Mapping[int, Post], transport: Transport, step: Callable[[], None]) -> None:
    """Copy what a rank pulls from others, and from itself.

    step : called after each stretch; raises if the communicator was broken
    """
    for source, target, whole in pulls_of(rank, tuple([(other, posts[other].collective) for other in sorted(posts)])):
        mine, its = posts[target.rank], posts[source.rank]
        most = max(1, STRETCH // mine.kernel.layout[target.name].itemsize)
        for begin in range(0, whole, most):
            count = min(most, whole - begin)
            taken = part(its, source.name, source.begin + begin, count)
            transport.move(part(mine, target.name, target.begin + begin, count), taken)
            step()


def part(post: Post, name: str, begin: int, count: int) -> ep.Memory:
    """Return the bytes of some elements of a rank's operand, also of a memory that was closed for the host meanwhile."""
    number, lo, itemsize = post.kernel.layout[name]
    memory, first, nbytes = post.memories[number], (lo + begin) * itemsize, count * itemsize
    return memory if nbytes == memory.nbytes and not first else memory._part(first, nbytes)
