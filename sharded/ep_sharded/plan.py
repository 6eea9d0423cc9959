"""A Plan is how a tensor gets from one layout to another: the moves that send the fewest bytes, and of those the fewest."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ep_sharded.layout import Layout, parts
from ep_sharded.placement import Broadcast, Partial, Placement, Split

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Move", "Plan", "plan"]

_KINDS: Final = {
    (Split, Broadcast): "all_gather",
    (Split, Split): "all_to_all",
    (Split, Partial): "embed",
    (Broadcast, Split): "slice",
    (Broadcast, Partial): "keep",
    (Partial, Broadcast): "all_reduce",
    (Partial, Split): "reduce_scatter",
}
_LOCAL: Final = {"embed", "slice", "keep"}


@dataclass(frozen=True, slots=True)
class Move:
    """One collective over some dimensions of the mesh, or local work.

    kind       : all_gather, all_to_all, all_reduce or reduce_scatter; slice takes a part; embed puts a part among identities;
                 keep moves nothing, or takes identities
    dimensions : of the mesh, whose placements are one before and one after
    """

    kind: str
    dimensions: tuple[int, ...]
    before: Layout
    after: Layout

    @property
    def source(self) -> Placement:
        """The placement before."""
        return self.before.placements[self.dimensions[0]]

    @property
    def target(self) -> Placement:
        """The placement after."""
        return self.after.placements[self.dimensions[0]]

    @property
    def ranks(self) -> int:
        """How many ranks take part together."""
        return math.prod(self.before.mesh[dimension] for dimension in self.dimensions)

    @property
    def is_local(self) -> bool:
        """True if nothing is sent."""
        return self.kind in _LOCAL

    @property
    def nbytes(self) -> int:
        """Bytes that rank 0 sends, which holds the largest part, by an algorithm that sends no more than it must.

        That is (n - 1) / n of the whole for AllGather, ReduceScatter and AllToAll over n ranks, and twice that for
        AllReduce, with padding where parts are unequal (Chan et al., Collective communication: theory, practice, and
        experience, 2007, table II).
        """
        held, itemsize, others = self.before.largest, self.before.spec.itemsize, self.ranks - 1
        match self.kind:
            case "all_gather":
                return others * held.nbytes
            case "reduce_scatter":
                return others * self.after.largest.nbytes
            case "all_reduce":
                return 2 * others * -(-held.size // self.ranks) * itemsize
            case "all_to_all":
                assert isinstance(self.target, Split)
                extent = held.shape[self.target.axis]
                own = _first(extent, [self.before.mesh[dimension] for dimension in self.dimensions])
                return held.nbytes - held.nbytes * own // extent if extent else 0
        return 0

    def __str__(self) -> str:
        where = " and ".join(map(str, self.dimensions))
        sent = "" if self.is_local else f", a rank sends {self.nbytes} bytes"
        return f"{self.kind} over mesh dimension {where}: {self.before.words} -> {self.after.words}{sent}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The moves from one layout to another. str() prints them."""

    source: Layout
    target: Layout
    moves: tuple[Move, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that rank 0 sends in all."""
        return sum(move.nbytes for move in self.moves)

    @property
    def cost(self) -> tuple[int, int, int]:
        """Bytes sent, collectives, moves: plans are compared by it."""
        return self.nbytes, sum(not move.is_local for move in self.moves), len(self.moves)

    def __str__(self) -> str:
        lines = [f"  {number}. {move}" for number, move in enumerate(self.moves, 1)]
        return "\n".join([f"{self.source} -> {self.target.words}: {self.nbytes} bytes", *lines])


@functools.lru_cache(4096)
def plan(source: Layout, target: Layout) -> Plan:
    """Return the plan of the least cost: Dijkstra's shortest path among all placements. Raises ValueError for two tensors."""
    if (source.spec, source.mesh) != (target.spec, target.mesh):
        message = f"plan: source is {source} and target is {target}, needs one tensor over one mesh"
        raise ValueError(message)
    candidates = _candidates(source, target)
    order = itertools.count()  # the first found of equal cost, the same at every rank
    waiting: list[tuple[tuple[int, int, int], int, Layout, tuple[Move, ...]]] = [((0, 0, 0), next(order), source, ())]
    done: set[Layout] = set()
    while True:
        cost, _, layout, moves = heapq.heappop(waiting)
        if layout == target:
            return Plan(source, target, moves)
        if layout in done:
            continue
        done.add(layout)
        for move in _moves(layout, candidates):
            more = (move.nbytes, int(not move.is_local), 1)
            total = (cost[0] + more[0], cost[1] + more[1], cost[2] + more[2])
            heapq.heappush(waiting, (total, next(order), move.after, (*moves, move)))


def _candidates(source: Layout, target: Layout) -> list[Placement]:
    """Return the placements that a path may go through."""
    partial = {each: None for each in (*source.placements, *target.placements) if isinstance(each, Partial)}
    return [Broadcast(), *map(Split, range(source.spec.ndim)), *partial]


def _moves(layout: Layout, candidates: list[Placement]) -> Iterator[Move]:
    """Yield every move from a layout: over one dimension of the mesh, or over all where they have one placement."""
    dimensions = range(len(layout.mesh))
    groups: list[tuple[int, ...]] = [(dimension,) for dimension in dimensions]
    if len(groups) > 1 and len(set(layout.placements)) == 1:
        groups.append(tuple(dimensions))
    for group, target in itertools.product(groups, candidates):
        source = layout.placements[group[0]]
        chosen = [target if dimension in group else each for dimension, each in enumerate(layout.placements)]
        if source == target or not _commutes(chosen) or _splits_under(layout, group, {source, target}):
            continue
        kind = "keep" if all(layout.mesh[each] == 1 for each in group) else _KINDS.get((type(source), type(target)))
        if kind is None or (kind == "embed" and target == Partial("mean")):
            continue
        yield Move(kind, group, layout, layout.placed(chosen))


def _commutes(placements: list[Placement]) -> bool:
    return len({each for each in placements if isinstance(each, Partial)}) <= 1


def _splits_under(layout: Layout, group: tuple[int, ...], changed: set[Placement]) -> bool:
    """Say whether a later dimension splits an axis whose parts would change under it."""
    return any(isinstance(each, Split) and each in changed for each in layout.placements[group[-1] + 1 :])


def _first(extent: int, mesh: list[int]) -> int:
    for count in mesh:
        extent = len(parts(extent, count)[0])
    return extent
