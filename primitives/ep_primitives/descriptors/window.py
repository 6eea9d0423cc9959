"""Windows: a part of a tensor where it lies, the same strides with smaller extents, as parts of a descriptor need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["Window", "rows", "windowed"]

Window = tuple[tuple[int, int], ...]
"""The first index and the extent along each dimension."""


def rows(shape: tuple[int, ...], among: Collection[int]) -> Iterator[Window]:
    """Yield windows of a tensor whose rows the dimensions `among` number: the first row, the last, all but the first.

    shape : of the tensor that all rows are of; without elements, or with one row only, it has no such windows
    """
    whole = [(0, extent) for extent in shape]
    widest = max(among, key=lambda dimension: shape[dimension], default=None)
    if widest is None or shape[widest] < 2 or not all(shape):  # noqa: PLR2004 - a row and another one
        return
    for is_last in (False, True):
        alone = [(shape[d] - 1 if is_last else 0, 1) if d in among else whole[d] for d in range(len(shape))]
        yield tuple(alone)
    rest = [*whole]
    rest[widest] = (1, shape[widest] - 1)
    yield tuple(rest)


def windowed(spec: TensorSpec, window: Window) -> TensorSpec:
    """Return the window of a tensor that broadcasts to the one that the window is of.

    Dimensions are aligned at the right; those of extent 1 and those that the tensor lacks stay as they are.
    """
    lead = len(window) - spec.ndim
    shape, offset = [], spec.offset
    for extent, stride, (begin, count) in zip(spec.shape, spec.strides, window[lead:], strict=True):
        shape.append(extent if extent == 1 else count)
        offset += 0 if extent == 1 else begin * stride
    return TensorSpec(spec.dtype, tuple(shape), spec.strides, offset)
