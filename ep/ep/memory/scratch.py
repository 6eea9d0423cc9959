"""Scratch: memory that kernels need beside their operands, for one launch, or once for all nodes of a graph."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any, Final

from ep.ground.glimpse import glimpse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep.memory.memory import Memory
    from ep.work.executable import Node
    from ep.work.stage import Lifetime

__all__ = ["checked_nbytes", "packed", "planned", "with_scratch"]

_END: Final = 1 << 60


def checked_nbytes(nbytes: Any, implementation: str) -> int:
    """Return the scratch_nbytes of a kernel. Raises TypeError unless it is a number of bytes."""
    if type(nbytes) is not int or not 0 <= nbytes < _END:
        message = f"the kernel of {implementation} has scratch_nbytes {glimpse(nbytes)}, needs an int from 0 on; give the bytes of one launch"
        raise TypeError(message)
    return nbytes


def packed(lifetimes: Sequence[Lifetime], alignment: int) -> tuple[list[int], int]:
    """Return the place of each lifetime's bytes in one scratch, and the size of the scratch.

    alignment : bytes that every place is a multiple of

    Lifetimes that overlap in time get disjoint bytes; the largest are placed first, each as low as it fits.
    """
    begins = [0] * len(lifetimes)
    placed: list[tuple[int, int, int, int]] = []  # begin and end, first and last stage, by their begins
    for place in sorted(range(len(lifetimes)), key=lambda place: -lifetimes[place].nbytes):
        mine = lifetimes[place]
        first, last = mine.first, mine.last
        begin, nbytes = 0, -(-mine.nbytes // alignment) * alignment
        for low, high, its_first, its_last in placed:
            if low >= begin + nbytes:
                break
            if high > begin and first <= its_last and its_first <= last:
                begin = high
        bisect.insort(placed, (begin, begin + nbytes, first, last))
        begins[place] = begin
    return begins, max([high for _, high, _, _ in placed], default=0)


def planned(nodes: Sequence[Node], lanes: Sequence[int], alignment: int) -> tuple[dict[int, int], int]:
    """Return the places in one arena, by node, of the scratch that nodes still need, and the size of the arena.

    lanes     : which stream of the capture each node is of
    alignment : bytes that every place is a multiple of

    Nodes of one stream run one after the other and share bytes; nodes of different streams may run side by side.
    """
    sizes: dict[int, int] = {}
    for node, lane in zip(nodes, lanes, strict=True):
        if node.lacks_scratch:
            sizes[lane] = max(sizes.get(lane, 0), node.scratch_nbytes)
    begins, end = {}, 0
    for lane, size in sizes.items():
        begins[lane] = end
        end += -(-size // alignment) * alignment
    places = enumerate(zip(nodes, lanes, strict=True))
    return {place: begins[lane] for place, (node, lane) in places if node.lacks_scratch}, end


def with_scratch(nodes: Sequence[Node], begins: dict[int, int], arena: Memory) -> tuple[Node, ...]:
    """Return the nodes with their parts of the arena appended to their operands."""
    return tuple(
        [
            node._replace(memories=(*node.memories, arena[begins[place] : begins[place] + node.scratch_nbytes]))
            if place in begins
            else node
            for place, node in enumerate(nodes)
        ]
    )
