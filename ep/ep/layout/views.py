"""Views of a tensor: specs of the same memory. Nothing is moved, so views that would need a move are refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["indexed", "permuted", "reshaped"]


def permuted(spec: TensorSpec, axes: Sequence[Any]) -> TensorSpec:
    """Return the spec whose dimension i is dimension axes[i]. Raises TypeError or ValueError unless each is named once."""
    given = [integer("permute: axis", axis) for axis in axes]
    order = [axis + spec.ndim if axis < 0 else axis for axis in given]
    if sorted(order) != [*range(spec.ndim)]:
        message = f"permute: axes are {glimpse(tuple(given))}, need each dimension of {spec.shape} once; negative ones count from the end"
        raise ValueError(message)
    shape, strides = (tuple(numbers[axis] for axis in order) for numbers in (spec.shape, spec.strides))
    return TensorSpec(spec.dtype, shape, strides, spec.offset)


def reshaped(spec: TensorSpec, shape: Sequence[Any]) -> TensorSpec:
    """Return the spec of the same elements, in row-major order, with other extents; one may be -1: it is computed.

    Raises TypeError for extents that are no integers, ValueError for another number of elements or if no strides fit.
    """
    wanted = _extents(spec, [integer("reshape: extent", extent) for extent in shape])
    strides = None if spec.is_dense or not spec.size else _strides(spec, wanted)
    return TensorSpec(spec.dtype, wanted, strides, spec.offset)


def indexed(spec: TensorSpec, index: Any) -> TensorSpec:
    """Return the spec of a part: an integer takes a dimension's element, a slice a part of it, `...` all that are left.

    Raises TypeError for any other index, ValueError for an element that is not there and for too many indices.
    """
    parts = list(index) if type(index) is tuple else [index]
    open_places = [place for place, part in enumerate(parts) if part is ...]
    named = len(parts) - len(open_places)
    if len(open_places) > 1 or named > spec.ndim:
        message = (
            f"tensor: index {glimpse(index)} needs at most one `...` and one part for each dimension of {spec.shape}"
        )
        raise ValueError(message)
    place = open_places[0] if open_places else len(parts)
    whole = [slice(None)] * (spec.ndim - named)
    offset, shape, strides = spec.offset, [], []
    for axis, part in enumerate([*parts[:place], *whole, *parts[place + 1 :]]):
        extent, stride = spec.shape[axis], spec.strides[axis]
        if isinstance(part, slice):
            taken = _range(part, extent)
            shape.append(len(taken))
            strides.append(stride * taken.step if len(taken) > 1 else 1)  # a step not taken may be of any size
            offset += stride * taken.start if taken else 0
        else:
            offset += stride * _element(part, axis, spec)
    return TensorSpec(spec.dtype, tuple(shape), tuple(strides), offset)


def _range(part: slice, extent: int) -> range:
    try:
        return range(*part.indices(extent))
    except Exception:  # noqa: BLE001 - no integers, a step of 0, or an exception of an integer's own code
        message = f"tensor: index {glimpse(part)} needs integers, and a step other than 0"
        raise TypeError(message) from None


def _element(part: Any, axis: int, spec: TensorSpec) -> int:
    number, extent = integer("tensor: index", part), spec.shape[axis]
    if not -extent <= number < extent:
        message = f"tensor: index {number} is not in dimension {axis} of {spec.shape}; it has {extent} elements"
        raise ValueError(message)
    return number % extent


def _extents(spec: TensorSpec, shape: list[int]) -> tuple[int, ...]:
    """Return the extents of a reshape, with the one that is left open filled in."""
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and known > 0 and not spec.size % known:
        shape[shape.index(-1)] = spec.size // known
    if min(shape, default=0) < 0 or math.prod(shape) != spec.size:
        message = f"reshape: {tuple(shape)} does not hold the {spec.size} elements of {spec.shape}; one extent may be -1, the rest"
        raise ValueError(message)
    return tuple(shape)


def _strides(spec: TensorSpec, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """Return strides for other extents: each new dimension lies in one group of old ones whose elements are equally spaced."""
    groups: list[tuple[int, int]] = []
    for extent, stride in zip(spec.shape, spec.strides, strict=True):
        if extent == 1:
            continue
        if groups and groups[-1][1] == stride * extent:
            groups[-1] = groups[-1][0] * extent, stride
        else:
            groups.append((extent, stride))
    strides = []
    left, step = 1, 1  # the rest of the innermost group: so many elements, so far apart
    for extent in reversed(wanted):
        if left == 1 < extent:
            left, step = groups.pop()
        if left % extent:
            message = f"reshape: no strides make {wanted} of {spec!r}, and nothing is moved here; copy it to a dense tensor first, with Copy"
            raise ValueError(message)
        strides.append(step)
        left, step = left // extent, step * extent
    return tuple(reversed(strides))
