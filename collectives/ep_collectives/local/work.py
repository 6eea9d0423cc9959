"""A rank's share, done: pieces of elements are reduced by kernels of its device, and copied where they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_collectives.carrier.reducer import Reducers
from ep_collectives.local.share import Place, fold_of, longest, pulls_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import ep
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


class Folding:
    """How a rank reduces its part.

    Terms are reduced where they lie, if the kernels take them there and the device reaches them; else they are copied into
    scratch: see `Reducers`.

    fold   : the part
    nbytes : the scratch that a share needs
    """

    def __init__(self, collective: ep.Collective, rank: int, size: int, device: ep.Device) -> None:
        spec: Any = collective.specs[0]
        self._itemsize = spec.itemsize
        self._rank, self._size, self._device = rank, size, device
        fold: Fold = fold_of(collective, rank, size)  # type: ignore[assignment]  # of a collective that reduces
        # The first on this device gets the result at once, and all others a copy.
        self.fold = fold._replace(targets=tuple(sorted(fold.targets, key=lambda place: place.rank != rank)))
        self._step = max(1, min(PIECE // self._itemsize, longest(collective, size)))
        self._stretch = max(self._step, STRETCH // self._itemsize)
        self._reducers = Reducers(collective.op, spec.dtype, size, device)
        extent = self.fold.end - self.fold.begin
        # Both lengths that pieces have are asked for now: what the device lacks shows before anything is enqueued.
        made = [self._reducers.of(count) for count in {min(self._step, extent), extent % self._step} - {0}]
        alignment = device.info.alignment
        self._result = -(-size * self._step * self._itemsize // alignment) * alignment
        self._inner = self._result + -(-self._step * self._itemsize // alignment) * alignment
        self.nbytes = self._inner + max([reducer.scratch_nbytes for reducer in made]) if made else 0

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to reduce."""
        return self.fold.begin == self.fold.end

    def do(
        self, posts: Mapping[int, Post], transport: Transport, scratch: ep.Memory | None, step: Callable[[], None]
    ) -> None:
        """Reduce the part, piece by piece.

        step : called after each piece; raises if the communicator was broken
        """
        is_short = self.fold.end - self.fold.begin <= self._step
        longest_piece = self._stretch if not is_short and self._is_direct(posts) else self._step
        for begin in range(self.fold.begin, self.fold.end, longest_piece):
            count = min(longest_piece, self.fold.end - begin)
            self._do_piece(posts, transport, scratch, begin, count)
            step()

    def _do_piece(self, posts: Mapping[int, Post], transport: Transport, scratch: Any, begin: int, count: int) -> None:
        reducer, nbytes = self._reducers.of(count), count * self._itemsize
        terms = self.terms(posts, begin, count)
        for rank, term in enumerate(terms):
            if not reducer.reaches or term.device is not self._device:
                terms[rank] = scratch._part(rank * nbytes, nbytes)
                transport.move(terms[rank], term)
        targets = self._targets(posts, begin, count)
        first = next((target for target in targets if target.device is self._device), None)
        result = scratch._part(self._result, nbytes) if first is None else first
        read = terms if reducer.reaches else [scratch._part(0, self._size * nbytes)]
        between = scratch._part(self._result, nbytes)
        inner = scratch._part(self._inner, reducer.scratch_nbytes)
        reducer.run(transport.lane, read, result, between, inner, self._size)
        for target in targets:
            if target is not result:
                transport.move(target, result)

    def terms(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        """Return the elements of a piece at each rank, in the order of the ranks."""
        return [part(posts, Place(rank, "x", begin), count) for rank in range(self._size)]

    def _targets(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        """Return where the results of a piece go, this rank's own place before all others'."""
        passed = begin - self.fold.begin
        return [part(posts, place, count, passed) for place in self.fold.targets]

    def _is_direct(self, posts: Mapping[int, Post]) -> bool:
        """Say whether no piece needs scratch: all ranks are on this rank's device, and the terms are added where they lie."""
        if any(memory.device is not self._device for post in posts.values() for memory in post.memories):
            return False
        reducer = self._reducers.of(min(self._stretch, max(1, self.fold.end - self.fold.begin)))
        return reducer.reaches and not reducer.needs_room


def pull(rank: int, posts: Mapping[int, Post], transport: Transport, step: Callable[[], None]) -> None:
    """Copy what a rank pulls from others, and from itself.

    step : called after each stretch; raises if the communicator was broken
    """
    for source, target, whole in pulls_of(rank, tuple([(other, posts[other].collective) for other in sorted(posts)])):
        collective = posts[rank].collective
        itemsize = collective.specs[collective.operands.index(target.name)].itemsize
        most = max(1, STRETCH // itemsize)
        for begin in range(0, whole, most):
            count = min(most, whole - begin)
            transport.move(part(posts, target, count, begin), part(posts, source, count, begin))
            step()


def part(posts: Mapping[int, Post], place: Place, count: int, passed: int = 0) -> ep.Memory:
    """Return the bytes of some elements of a rank's operand, also of a memory that was closed for the host meanwhile.

    passed : elements from the place to the first
    """
    _, _, kernel, memories = posts[place.rank]
    number = kernel.collective.operands.index(place.name)
    spec, memory = kernel.collective.specs[number], memories[number]
    begin, nbytes = (spec.lo + place.begin + passed) * spec.itemsize, count * spec.itemsize
    return memory if nbytes == memory.nbytes and not begin else memory._part(begin, nbytes)
