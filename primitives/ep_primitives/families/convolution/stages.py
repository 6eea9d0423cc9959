"""The lowering of Convolution: a product of weights and columns; the columns are a view of x if strides allow it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.dims import merge

from ep import Stage, TensorSpec
from ep_primitives.families.copy.descriptor import Copy
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.families.pad.descriptor import Pad
from ep_primitives.reductions.dimensions import part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.convolution.descriptor import Convolution

__all__ = ["grouped", "matrix", "stages"]

_MOST_BYTES: Final = 8 << 20
"""Of the columns that are there at one time, unless the weights, which meet each part of them, have half as many."""


class _Share(NamedTuple):
    """A part convolved at one time: images, and windows along the first spatial dimension; first and number of each."""

    image: int
    images: int
    row: int
    rows: int


def stages(whole: Convolution) -> Iterator[Stage]:
    """Yield the stages: x continued by zeros if windows reach beyond it, then for each share its columns and the product.

    Matrices have the batches (images, groups): weights (M / groups, k), columns (k, o), k the terms of an element of y and o
    its places in an image. Columns are copied, and the product too, where they are no matrices of x and y.
    """
    x, source = whole.x, "x"
    if whole.sliding.touches_more(x.shape[2:], whole.out.shape[2:]):
        x, source = _continued(whole), "continued"
        behind = whole.sliding.behind(whole.x.shape[2:], whole.out.shape[2:])
        pad = Pad("constant", x=whole.x, out=x, before=(0, 0, *whole.sliding.before), after=(0, 0, *behind))
        yield Stage(pad, x="x", out=source)
    spatial = x.ndim - 2
    windows = _windows(whole, x)
    filters = grouped(whole, whole.w)
    weights, factor = matrix(filters, (1, 1, spatial + 1)), "w"
    if weights is None:
        dense, factor = filters.dense(), "weights"
        yield Stage(Copy(x=filters, out=dense), x="w", out=factor)
        weights = matrix(dense, (1, 1, spatial + 1))
    is_copied = matrix(windows, (1, 1, spatial + 1, spatial)) is None
    y = grouped(whole, whole.out, axis=1)
    for share in _shares(whole) if is_copied else (_all(whole),):
        seen, place = _shared(windows, share, spatial), source
        if is_copied:
            yield Stage(Copy(x=seen, out=seen.dense()), x=place, out="columns")
            seen, place = seen.dense(), "columns"
        made = _shared(y, share, spatial)
        out = matrix(made, (1, 1, 1, spatial))
        target = matrix(made.dense(), (1, 1, 1, spatial)) if out is None else out
        product = Matmul(a=weights, b=matrix(seen, (1, 1, spatial + 1, spatial)), out=target, bias=_bias(whole))  # type: ignore[arg-type]  # these are matrices
        given = {"bias": "bias"} if whole.bias else {}
        yield Stage(product, a=factor, b=place, out="y" if out else "product", **given)
        if out is None:
            yield Stage(Copy(x=made.dense(), out=made), x="product", out="y")


def _continued(whole: Convolution) -> TensorSpec:
    """Return x with zeros beside it, as far as windows reach."""
    reach = whole.sliding.reach(whole.out.shape[2:])
    return TensorSpec(whole.x.dtype, (*whole.x.shape[:2], *reach))


def _windows(whole: Convolution, x: TensorSpec) -> TensorSpec:
    """Return all windows of x: (N, groups, C / groups, K..., O...)."""
    groups, sliding = whole.groups, whole.sliding
    each = x.shape[1] // groups
    image, channel, *spatial = x.strides
    strides = sliding.within(tuple(spatial)) + sliding.between(tuple(spatial))
    shape = (x.shape[0], groups, each, *sliding.window, *whole.out.shape[2:])
    return TensorSpec(x.dtype, shape, (image, each * channel, channel, *strides), x.offset)


def grouped(whole: Convolution, spec: TensorSpec, axis: int = 0) -> TensorSpec:
    """Return a tensor with M at an axis as one with (groups, M / groups) there."""
    each, stride = spec.shape[axis] // whole.groups, spec.strides[axis]
    shape = (*spec.shape[:axis], whole.groups, each, *spec.shape[axis + 1 :])
    strides = (*spec.strides[:axis], each * stride, stride, *spec.strides[axis + 1 :])
    return TensorSpec(spec.dtype, shape, strides, spec.offset)


def _bias(whole: Convolution) -> TensorSpec | None:
    """Return the bias as columns: (groups, M / groups, 1)."""
    if whole.bias is None:
        return None
    bias = grouped(whole, whole.bias)
    return TensorSpec(bias.dtype, (*bias.shape, 1), (*bias.strides, 1), bias.offset)


def matrix(spec: TensorSpec, runs: tuple[int, ...]) -> TensorSpec | None:
    """Return a tensor with each run of so many neighbouring dimensions as one; None if strides cannot say that."""
    shape, strides, first = [], [], 0
    for run in runs:
        along = part(spec, range(first, first + run))
        merged = merge(along, (along,), keeps_order=True)
        if len(merged.shape) > 1 and spec.size:
            return None
        shape.append(math.prod(along.shape))
        strides.append(merged.strides[0][0] if len(merged.shape) == 1 else 1)
        first += run
    return TensorSpec(spec.dtype, tuple(shape), tuple(strides), spec.offset)


def _all(whole: Convolution) -> _Share:
    return _Share(0, whole.out.shape[0], 0, whole.out.shape[2])


def _shares(whole: Convolution) -> Iterator[_Share]:
    """Yield shares with not too many columns: some images, or some windows of one image along the first dimension."""
    images, _, rows, *_ = whole.out.shape
    row = math.prod(whole.out.shape[3:]) * whole.terms * whole.groups * whole.x.itemsize
    most = max(_MOST_BYTES, 2 * whole.w.size * whole.w.itemsize)
    if not whole.out.size or images * rows * row <= most:
        yield _all(whole)
    elif rows * row <= most:
        for image, count in _split(images, most // (rows * row)):
            yield _Share(image, count, 0, rows)
    else:
        for image in range(images):
            for first, count in _split(rows, max(most // row, 1)):
                yield _Share(image, 1, first, count)


def _split(count: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the number of each of the fewest parts of at most so many, all but the last of one length."""
    length = -(-count // -(-count // most))
    for first in range(0, count, length):
        yield first, min(length, count - first)


def _shared(spec: TensorSpec, share: _Share, spatial: int) -> TensorSpec:
    """Return a share's part of a tensor whose first dimension counts images, and whose last ones are y's."""
    row = spec.ndim - spatial
    shape = (share.images, *spec.shape[1:row], share.rows, *spec.shape[row + 1 :])
    offset = spec.offset + share.image * spec.strides[0] + share.row * spec.strides[row]
    return TensorSpec(spec.dtype, shape, spec.strides, offset)
