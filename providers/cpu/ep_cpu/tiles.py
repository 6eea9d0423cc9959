"""The order of a walk: by tiles if an operand is not contiguous along the innermost dimension, else as large inputs lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ep

__all__ = ["in_order_of_input", "tiled", "turned"]

_TILED_FROM: Final = 1 << 14
_MOST_CUT: Final = 14  # two dimensions more are the 16 that the native geometry holds
_TILE: Final = (64, 16)  # rows and columns; columns of a power of two apart share few sets of a cache
_LEAST_TILE: Final = 8
_LINE: Final = 64
_ORDERED_FROM: Final = 20 << 20
"""Bytes moved: less is in caches, where short rows are read in any order."""


def tiled(geometry: ep.Geometry) -> ep.Geometry:
    """Return the geometry with its last two dimensions cut into tiles that caches hold, if an operand runs across them."""
    shape, strides = geometry.shape, geometry.strides
    if geometry.size < _TILED_FROM or not 1 < len(shape) <= _MOST_CUT:
        return geometry
    if not any(0 < abs(own[-2]) < abs(own[-1]) for own in strides):
        return geometry
    rows, columns = (largest_divisor(extent, most) for extent, most in zip(shape[-2:], _TILE, strict=True))
    if columns < _LEAST_TILE:
        return geometry
    return geometry._replace(
        shape=(*shape[:-2], shape[-2] // rows, shape[-1] // columns, rows, columns),
        strides=tuple((*own[:-2], own[-2] * rows, own[-1] * columns, *own[-2:]) for own in strides),
    )


def turned(geometry: ep.Geometry) -> tuple[ep.Geometry, tuple[bool, ...]]:
    """Return the geometry with the dimension last along which out is contiguous, and which inputs are along the one before.

    These are large enough for tiles of them to be turned; if none is, the geometry is as it was.
    """
    shape, strides = geometry.shape, geometry.strides
    none = geometry, (False,) * len(strides)
    if geometry.size < _TILED_FROM or len(shape) < 2 or 1 not in strides[-1]:  # noqa: PLR2004 - a matrix
        return none
    column = strides[-1].index(1)
    crossing = [own[column] not in {0, 1} and 1 in own for own in strides[:-1]]
    rows = {own.index(1) for own, crosses in zip(strides, crossing, strict=False) if crosses}
    if len(rows) != 1:
        return none
    (row,) = rows
    if min(shape[row], shape[column]) < _LEAST_TILE:
        return none
    order = (*(axis for axis in range(len(shape)) if axis not in {row, column}), row, column)
    swapped = geometry._replace(
        shape=tuple(shape[axis] for axis in order),
        strides=tuple(tuple(own[axis] for axis in order) for own in strides),
    )
    return swapped, (*crossing, False)


def in_order_of_input(geometry: ep.Geometry, itemsizes: tuple[int, ...]) -> ep.Geometry:
    """Return the geometry of a copy, or of a unary op, with its rows in the order in which those of x lie.

    The processor reads ahead along x alone, and each row of out is whole lines, wherever it lies.
    """
    shape, strides = geometry.shape, geometry.strides
    last = len(shape) - 1
    if len(strides) != 2 or last < 1 or geometry.size * sum(itemsizes) < _ORDERED_FROM:  # noqa: PLR2004 - x and out
        return geometry
    if any(own[last] != 1 for own in strides) or shape[last] * min(itemsizes) < _LINE:
        return geometry
    order = (*sorted(range(last), key=lambda axis: -abs(strides[0][axis])), last)
    return geometry._replace(
        shape=tuple(shape[axis] for axis in order),
        strides=tuple(tuple(own[axis] for axis in order) for own in strides),
    )


def largest_divisor(extent: int, most: int) -> int:
    """Return the largest divisor of `extent` that is at most `most`."""
    return next(divisor for divisor in range(most, 0, -1) if extent % divisor == 0)
