"""Results of a collective that reduces: which rank wants which, and where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_collectives.descriptors.reducing import AllReduce, ReduceScatter
from ep_collectives.mpi.places import Span

if TYPE_CHECKING:
    import ep

__all__ = ["result_of", "takers", "wanted"]


def takers(collective: ep.Collective, reducer: int, size: int) -> tuple[int, ...]:
    """Return the ranks that want what a rank has reduced, where each reduces a part."""
    match collective:
        case ReduceScatter():
            return (reducer,)
        case AllReduce():
            return tuple(range(size))
    return (collective.root,)  # type: ignore[attr-defined]  # it is a Reduce


def wanted(collective: ep.Collective, rank: int, size: int) -> Span:
    """Return the elements of x whose reduction a rank wants."""
    spec: Any = collective.specs[0]
    if isinstance(collective, ReduceScatter):
        part = spec.size // size
        return Span("x", rank * part, part)
    return Span("x", 0, spec.size if rank in takers(collective, rank, size) else 0)


def result_of(collective: ep.Collective, piece: Span, begin: int) -> Span:
    """Return where a rank that wants it has the result of a piece of x.

    begin : the first element that the rank reduces
    """
    if not isinstance(collective, ReduceScatter):
        return piece._replace(name="out")
    return Span("out", piece.begin - begin, piece.length) if "out" in collective.operands else piece
