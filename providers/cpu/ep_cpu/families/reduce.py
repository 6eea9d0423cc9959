"""Reductions: a tree joins each row of x; extents and strides alone decide it, not the threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Reduce

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_primitives.reductions.dimensions import Reduction

    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "ChunkTree", "RowPlanned"]

_WORTH_A_VECTOR: Final = 16
_CLOSE: Final = 4
"""Elements from one row to the next of which most share a line of memory with it."""


class RowPlanned(Planned):
    """An implementation that makes one element from each row of x."""

    def plan(self, descriptor: Reduction, native: Native) -> Plan:
        del native
        x, out = descriptor.x, descriptor.out
        kept, reduced = descriptor.kept, descriptor.reduced
        extents, along = kept.shape or (1,), reduced.shape or (1,)
        strides = [own or (0,) for own in kept.strides]
        last = max(range(len(extents)), key=lambda axis: _worth(extents[axis], strides[0][axis]))
        order = [axis for axis in range(len(extents)) if axis != last] + [last]
        sizes = (x.itemsize, out.itemsize)
        fields = {
            "outputs": out.size,
            "terms": descriptor.terms,
            "traffic": descriptor.nbytes_moved,
            "offset": [offset * size for offset, size in zip(kept.offsets, sizes, strict=True)],
            "kept": len(extents),
            "ndim": len(along),
            "kept_extent": [extents[axis] for axis in order],
            "kept_stride": [[own[axis] * size for axis in order] for own, size in zip(strides, sizes, strict=True)],
            "extent": along,
            "stride": [stride * x.itemsize for stride in reduced.strides[0] or (0,)],
            "place": _places(along),
        }
        return Plan("ep_reduce_plan", fields)


class ChunkTree(RowPlanned):
    """Chunks of vector lanes joined pairwise, rows side by side or one at a time; any strides, of any instruction set."""


def _worth(extent: int, stride: int) -> tuple[bool, bool, int]:
    """Return how good a dimension is for rows to stand side by side in; no result depends on it."""
    is_long = extent >= _WORTH_A_VECTOR
    return is_long and abs(stride) == 1, is_long and abs(stride) <= _CLOSE, extent


def _places(shape: tuple[int, ...]) -> list[int]:
    """Return how far an element's row-major number moves in each dimension."""
    places = [1]
    for extent in shape[:0:-1]:
        places.append(places[-1] * extent)
    return places[::-1]


IMPLEMENTATIONS: Final = {Reduce: (ChunkTree(),)}
