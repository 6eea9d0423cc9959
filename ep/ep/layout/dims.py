"""Dimension merging: the fewest dimensions that visit the same elements of all operands together, found once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ep.layout.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep.layout.spec import Scalar

__all__ = ["Geometry", "broadcast_strides", "merge"]


class Geometry(NamedTuple):
    """The merged iteration space of one descriptor, outermost dimension first.

    shape    : merged extents, none of them 1; () for a single element
    strides  : for each operand its strides over `shape`, in elements; zeros for a Scalar, and for an absent one
    offsets  : for each operand the place of its first element, in elements; 0 for a Scalar and an absent one
    size     : number of elements visited
    is_dense : True if at most one dimension is left and every tensor has stride 1 in it
    """

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]
    size: int
    is_dense: bool

    def in_order(self, axes: Sequence[int]) -> Geometry:
        """Return the same space with its dimensions in another order, `axes` from the outermost on."""
        strides = tuple([tuple([own[axis] for axis in axes]) for own in self.strides])
        return self._replace(shape=tuple([self.shape[axis] for axis in axes]), strides=strides)


def broadcast_strides(spec: TensorSpec, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of `spec` over `shape`, aligned from the right, 0 where it is repeated.

    Raises ValueError if it does not broadcast to that shape.
    """
    missing = len(shape) - len(spec.shape)
    if missing == 0 and spec.shape == shape:
        return spec.strides
    strides = [0] * missing
    for have, want, stride in zip(spec.shape, shape[max(missing, 0) :], spec.strides, strict=False):
        if have not in (want, 1):
            missing = -1
        strides.append(stride if have == want else 0)
    if missing < 0:
        message = f"shape {spec.shape} does not broadcast to {shape}"
        raise ValueError(message)
    return tuple(strides)


def merge(out: TensorSpec, operands: Sequence[TensorSpec | Scalar | None], *, keeps_order: bool = False) -> Geometry:
    """Return the merged geometry of an elementwise visit of `out`, all `operands` broadcast to its shape.

    Dimensions of extent 1 go, the rest is ordered by the output's strides, and neighbours that every operand crosses
    in one step become one. `out` is among the operands. With `keeps_order` the dimensions stay in their order, so that
    an element's number in the visit is its row-major index.
    """
    offsets = tuple([operand.offset if type(operand) is TensorSpec else 0 for operand in operands])
    for operand in operands:
        if type(operand) is TensorSpec and not (operand.is_dense and operand.shape == out.shape):
            break
    else:
        return _merge_dense(out, operands, offsets)
    zeros = (0,) * len(out.shape)
    strides = [
        broadcast_strides(operand, out.shape) if isinstance(operand, TensorSpec) else zeros for operand in operands
    ]
    axes = [axis for axis, extent in enumerate(out.shape) if extent != 1]
    if not keeps_order:
        axes.sort(key=lambda axis: -abs(out.strides[axis]))
    shape: list[int] = []
    columns: list[list[int]] = []
    for axis in axes:
        extent = out.shape[axis]
        column = [stride[axis] for stride in strides]
        if shape and all(outer == inner * extent for outer, inner in zip(columns[-1], column, strict=True)):
            shape[-1] *= extent
            columns[-1] = column
        else:
            shape.append(extent)
            columns.append(column)
    by_operand = tuple(zip(*columns, strict=True)) if columns else tuple(() for _ in operands)
    is_dense = not shape or (
        len(shape) == 1
        and all(
            not isinstance(operand, TensorSpec) or stride[0] == 1
            for operand, stride in zip(operands, by_operand, strict=True)
        )
    )
    return Geometry(tuple(shape), by_operand, offsets, out.size, is_dense)


def _merge_dense(out: TensorSpec, operands: Sequence[TensorSpec | Scalar | None], offsets: tuple[int, ...]) -> Geometry:
    if out.size == 1:
        return Geometry((), ((),) * len(operands), offsets, 1, is_dense=True)
    strides = tuple([(1,) if type(operand) is TensorSpec else (0,) for operand in operands])
    return Geometry((out.size,), strides, offsets, out.size, is_dense=True)
