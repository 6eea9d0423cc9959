"""What one rank does in a collective once all ranks have come: the elements that it pulls, or the part that it folds."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast

if TYPE_CHECKING:
    import ep

    Collectives = tuple[tuple[int, ep.Collective], ...]

__all__ = ["Disagreement", "Fold", "Place", "Pull", "fold_of", "longest", "pulls_of"]

_LINE: Final = 64
"""Bytes of a cache line: no two ranks write to one."""
_WHOLE: Final = 256 << 10
"""Bytes up to which a tensor is one part, rank 0's: to cut it costs more time than two cores save."""


class Disagreement(Exception):  # noqa: N818 - no error of a caller: it becomes the communicator's
    """Two ranks launched what does not fit together."""

    def __init__(self, sentence: str, blamed: tuple[int, ...]) -> None:
        super().__init__(sentence)
        self.sentence, self.blamed = sentence, blamed


class Place(NamedTuple):
    """Elements of an operand of one rank, from `begin` on."""

    rank: int
    name: str
    begin: int


class Pull(NamedTuple):
    """Elements that this rank copies from another's operand to its own."""

    source: Place
    target: Place
    elements: int


class Fold(NamedTuple):
    """The elements from `begin` to `end` of the x of all ranks that this rank reduces, and where the results go."""

    begin: int
    end: int
    targets: tuple[Place, ...]


def fold_of(collective: ep.Collective, rank: int, size: int) -> Fold | None:
    """Return the part that a rank folds, in a collective that reduces; None in others.

    Each rank reduces an equal part of the elements, also where the root alone gets them; rank 0 all of a few.
    """
    match collective:
        case ReduceScatter():
            part = _size(collective, "x") // size
            target = Place(rank, "out", 0) if "out" in collective.operands else Place(rank, "x", rank * part)
            return Fold(rank * part, (rank + 1) * part, (target,))
        case AllReduce() | Reduce():
            begin, end = _cut(collective, rank, size), _cut(collective, rank + 1, size)
            ranks = range(size) if isinstance(collective, AllReduce) else (collective.root,)
            return Fold(begin, end, tuple([Place(other, "out", begin) for other in ranks]))
    return None


def longest(collective: ep.Collective, size: int) -> int:
    """Return how many elements the longest part of a collective that reduces has."""
    return max([fold.end - fold.begin for rank in range(size) if (fold := fold_of(collective, rank, size))], default=0)


@lru_cache(1024)
def pulls_of(rank: int, collectives: Collectives) -> tuple[Pull, ...]:
    """Return what a rank pulls.

    collectives : of each rank that has come, with its number

    Raises Disagreement where one rank sends another number of elements than the other takes.
    """
    by_rank = dict(collectives)
    mine = by_rank[rank]
    match mine:
        case Broadcast() if rank != mine.root:
            return (Pull(Place(mine.root, "x", 0), Place(rank, "x", 0), _size(mine, "x")),)
        case AllGather():
            part = _size(mine, "out") // len(by_rank)
            pulls = [
                Pull(_gathered(other, its, part), Place(rank, "out", other * part), part)
                for other, its in by_rank.items()
            ]
            return tuple([pull for pull in pulls if pull.source != pull.target])
        case Recv():
            return (Pull(Place(mine.peer, "x", 0), Place(rank, "out", 0), _size(mine, "out")),)
        case AllToAll():
            return tuple(_exchanged(rank, mine, by_rank))
    return ()


def _gathered(rank: int, collective: ep.Collective, part: int) -> Place:
    return Place(rank, "x", 0) if "x" in collective.operands else Place(rank, "out", rank * part)


def _exchanged(rank: int, mine: AllToAll, by_rank: dict[int, Any]) -> list[Pull]:
    size, begin, pulls = len(by_rank), 0, []
    receives = mine.counts(size)[1]
    for other in range(size):
        sends, count = by_rank[other].counts(size)[0], receives[other]
        if sends[rank] != count:
            sentence = (
                f"the ranks do not agree: rank {other} sends {sends[rank]} elements to rank {rank}, which takes {count}"
            )
            raise Disagreement(sentence, (other, rank))
        if count:
            pulls.append(Pull(Place(other, "x", sum(sends[:rank])), Place(rank, "out", begin), count))
        begin += count
    return pulls


def _size(collective: ep.Collective, name: str) -> int:
    return collective.specs[collective.operands.index(name)].size


def _cut(collective: ep.Collective, rank: int, size: int) -> int:
    """Return the first element of a rank's part, at the begin of a cache line of a memory that begins at one."""
    spec = collective.specs[0]
    if spec.nbytes <= _WHOLE:
        return min(rank, 1) * spec.size
    line = max(1, _LINE // spec.itemsize)
    whole: int = spec.size
    return min(whole, -(-whole * rank // (size * line)) * line)
