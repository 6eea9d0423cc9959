"""Room is the scratch that a rank reduces a piece in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import ep
    from ep_collectives.carrier.reducer import Reducer, Reducers

    Run = tuple[Callable[..., Any], tuple[ep.Memory, ...], tuple[Any, ...]]
    """What is called with a lane, memories, and numbers."""

__all__ = ["Room"]


class Room(NamedTuple):
    """How scratch is divided: a row for the term of each rank, a result, and what the kernels need.

    size     : how many ranks there are
    itemsize : of an element
    result   : where the result begins
    inner    : where the kernels' own scratch begins
    nbytes   : of all of it, aligned
    """

    size: int
    itemsize: int
    result: int
    inner: int
    nbytes: int

    @classmethod
    def of(cls, reducers: Reducers, counts: Iterable[int]) -> Room:
        """Return the room for pieces of so many elements, none for 0 alone. Raises UnsupportedError."""
        made = {count: reducers.of(count) for count in counts if count}
        if not made:
            return cls(reducers.size, reducers.itemsize, 0, 0, 0)
        alignment, most = reducers.device.info.alignment, max(made) * reducers.itemsize
        result = _aligned(reducers.size * most, alignment)
        inner = result + _aligned(most, alignment)
        kernels = max([reducer.scratch_nbytes for reducer in made.values()])
        return cls(reducers.size, reducers.itemsize, result, inner, _aligned(inner + kernels, alignment))

    def row(self, scratch: ep.Memory, rank: int, count: int) -> ep.Memory:
        """Return the place of a rank's term."""
        nbytes = count * self.itemsize
        return scratch._part(rank * nbytes, nbytes)

    def between(self, scratch: ep.Memory, count: int) -> ep.Memory:
        """Return the place of a result that no operand has."""
        return scratch._part(self.result, count * self.itemsize)

    def kernels(  # noqa: PLR0913 - the operands of a reduction, and where they lie
        self,
        scratch: ep.Memory,
        reducer: Reducer,
        terms: Sequence[ep.Memory],
        result: ep.Memory,
        count: int,
        *,
        is_step: bool = False,
    ) -> list[Run]:
        """Return what reduces a piece: see `Reducer.launches`.

        terms   : anywhere if the reducer reaches them, else in their rows
        is_step : the same memories come again, so that kernels are bound to them
        """
        # Views are made of what is needed alone: a small collective takes little longer than they do.
        between = self.between(scratch, count) if reducer.combines > 1 else result
        inner = scratch._part(self.inner, reducer.scratch_nbytes) if reducer.scratch_nbytes else scratch
        read = terms if reducer.reaches else [scratch._part(0, self.size * count * self.itemsize)]
        launches = reducer.launches(read, result, between, inner, self.size)
        if is_step:
            return [(kernel._bind(memories, numbers), (), ()) for kernel, memories, numbers in launches]
        return [(kernel._run, memories, numbers) for kernel, memories, numbers in launches]


def _aligned(nbytes: int, alignment: int) -> int:
    return -(-nbytes // alignment) * alignment
