"""The layout of a product: its matrices, and its batches, as far as these are not rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ep.layout.dims import broadcast_strides

from ep_simt.products.matrices import Matrices
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import Matmul

    from ep_simt.products.matrices import Steps

__all__ = ["Batches", "layout_of"]


class Batches(NamedTuple):
    """The batches of a product.

    kept, summed  : extents of those that out has, and of those that it is the sum over
    strides       : of a, b, bias and out over both
    """

    kept: tuple[int, ...]
    summed: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    def packed(self, *, wide: bool) -> bytes:
        """Return the geometry: along are the batches that are summed, across those that are kept."""
        return packed_rows((*self.kept, *self.summed), self.strides, len(self.kept), wide=wide)


def layout_of(descriptor: Matmul) -> tuple[Matrices, Batches]:
    """Return matrices and batches such that few matrices have many rows, and neighbours in memory are columns of out.

    Batches that share b are rows of one matrix, where strides can say it. A product of a matrix and a vector is turned, so that
    it has one row.
    """
    matrices, batches = _folded(*_as_described(descriptor))
    (row, column), m, n = matrices.out, matrices.m, matrices.n
    if n == 1 < m or (m > 1 < n and abs(row) < abs(column)):
        a, b, *rest = batches.strides
        return matrices.turned, batches._replace(strides=(b, a, *rest))
    return matrices, batches


def _as_described(descriptor: Matmul) -> tuple[Matrices, Batches]:
    (m, n), k = descriptor.out.shape[-2:], descriptor.a.shape[-1]
    a, b, out = (_steps(spec.shape, spec.strides) for spec in (descriptor.a, descriptor.b, descriptor.out))
    whole, given = descriptor.out.shape, descriptor.bias
    bias = (0, 0) if given is None else _steps(whole, broadcast_strides(given, whole))
    matrices = Matrices(("a", "b", "bias", "out"), m, n, k, a, b, bias, out, descriptor.conjugates)
    space = descriptor.geometry
    over = [space.strides[descriptor.operands.index(name)] for name in matrices.order]
    axes = sorted(range(len(space.shape)), key=lambda axis: over[-1][axis] == 0)
    count = sum(stride != 0 for stride in over[-1])
    kept, summed = (tuple(space.shape[axis] for axis in part) for part in (axes[:count], axes[count:]))
    return matrices, Batches(kept, summed, tuple(tuple(own[axis] for axis in axes) for own in over))


def _folded(matrices: Matrices, batches: Batches) -> tuple[Matrices, Batches]:
    """Return the same product with innermost batches as rows, where they share b and follow one another as rows do."""
    while batches.kept:
        m, place, extent = matrices.m, len(batches.kept) - 1, batches.kept[-1]
        a, b, bias, out = (own[place] for own in batches.strides)
        follows = (a, bias, out) == tuple(m * steps[0] for steps in (matrices.a, matrices.bias, matrices.out))
        if b or not (m == 1 or follows):
            break
        if m == 1:
            matrices = matrices._replace(
                a=(a, matrices.a[1]), bias=(bias, matrices.bias[1]), out=(out, matrices.out[1])
            )
        matrices = matrices._replace(m=m * extent)
        strides = tuple((*own[:place], *own[place + 1 :]) for own in batches.strides)
        batches = batches._replace(kept=batches.kept[:-1], strides=strides)
    return matrices, batches


def _steps(shape: tuple[int, ...], strides: tuple[int, ...]) -> Steps:
    row, column = (stride if extent > 1 else 0 for extent, stride in zip(shape[-2:], strides[-2:], strict=True))
    return row, column
