"""Operations that move elements or only see them otherwise."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ep_onnx.rules.indexing import gathered
from ep_onnx.rules.rule import rule
from ep_onnx.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace

__all__ = ["integers"]


def integers(do: Trace, node: Call, name: str, given: Value | None, default: Any = None) -> Any:
    """Return integers that older operator sets have as an attribute and newer ones as an input."""
    if given is not None:
        return [int(each) for each in do.host(given).reshape(-1)]
    found = node.get(name)
    return default if found is None else ([*found] if isinstance(found, (list, tuple)) else found)


@rule("Constant")
def _constant(do: Trace, node: Call) -> Any:
    dtypes = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    for name, content in node.node.attributes.items():
        if name == "value":
            return Value.read(content, node.node.title)
        if name in dtypes:
            return Value.of(np.asarray(content, dtypes[name]))
    return NotImplemented


@rule("Shape")
def _shape(do: Trace, node: Call, x: Value) -> Value:
    part = slice(node.get("start", 0), node.get("end"))
    return node.lasting(f"shape {part}", lambda: np.array(x.shape[part], np.int64), x)


@rule("Size")
def _size(do: Trace, node: Call, x: Value) -> Value:
    return do.constant(x.size, "int64")


@rule("ConstantOfShape")
def _constant_of_shape(do: Trace, node: Call, shape: Value) -> Value:
    value = node.get("value")
    extents = [int(each) for each in do.host(shape)]
    return do.full(*(("float32", extents, 0) if value is None else (value.dtype.name, extents, value.item())))


@rule("Reshape")
def _reshape(do: Trace, node: Call, x: Value, shape: Value | None = None) -> Value:
    wanted = integers(do, node, "shape", shape)
    if not node.get("allowzero", 0):
        wanted = [x.shape[place] if extent == 0 else extent for place, extent in enumerate(wanted)]
    return do.reshape(x, wanted)


@rule("Flatten")
def _flatten(do: Trace, node: Call, x: Value) -> Value:
    axis = node.get("axis", 1)
    axis += x.ndim if axis < 0 else 0
    return do.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@rule("Squeeze")
def _squeeze(do: Trace, node: Call, x: Value, axes: Value | None = None) -> Value:
    given = integers(do, node, "axes", axes)
    gone = _axes(given, x.ndim) if given is not None else [a for a, extent in enumerate(x.shape) if extent == 1]
    if any(x.shape[axis] != 1 for axis in gone):
        message = f"axes {gone} of shape {x.shape} are to go, and not all have the extent 1"
        raise ValueError(message)
    return x[tuple([0 if axis in gone else slice(None) for axis in range(x.ndim)])]


@rule("Unsqueeze")
def _unsqueeze(do: Trace, node: Call, x: Value, axes: Value | None = None) -> Value:
    given = integers(do, node, "axes", axes)
    new = _axes(given, x.ndim + len(given))
    rest = iter(x.shape)
    return do.reshape(x, [1 if axis in new else next(rest) for axis in range(x.ndim + len(new))])


@rule("Transpose")
def _transpose(do: Trace, node: Call, x: Value) -> Value:
    return x.permute(node.get("perm", [*range(x.ndim)][::-1]))


@rule("Expand")
def _expand(do: Trace, node: Call, x: Value, shape: Value) -> Value:
    wanted = [int(each) for each in do.host(shape)]
    return x.expand(np.broadcast_shapes(x.shape, tuple(wanted)))


@rule("Concat")
def _concat(do: Trace, node: Call, *parts: Value) -> Value:
    axis = node.axis(parts[0].ndim, 1)
    for part in parts:
        if part.shape != (0,) and _beside(part, axis) != _beside(parts[0], axis) and parts[0].shape != (0,):
            message = f"parts have the shapes {[each.shape for each in parts]}; needs the same ones but for axis {axis}"
            raise ValueError(message)
    left = [place for place, part in enumerate(parts) if part.size] or [*range(len(parts))]
    if len(left) == 1:
        return parts[left[0]]
    return do.joined([parts[place] for place in left], axis, [node.owns(place) for place in left])


def _beside(part: Value, axis: int) -> tuple[int, ...]:
    return (*part.shape[:axis], -1, *part.shape[axis + 1 :])


@rule("Split")
def _split(do: Trace, node: Call, x: Value, sizes: Value | None = None) -> tuple[Value, ...]:
    axis = node.axis(x.ndim, 0)
    given, extent = integers(do, node, "split", sizes), x.shape[axis]
    if given is None:
        count = node.get("num_outputs", len(node.node.outputs))
        share = -(-extent // count)
        given = [min(share, extent - place * share) for place in range(count)]
    if sum(given) != extent:
        message = f"parts of {given} do not add up to extent {extent} of axis {axis}"
        raise ValueError(message)
    ends = np.cumsum([0, *given])
    lead = (slice(None),) * axis
    return tuple([x[(*lead, slice(int(begin), int(end)))] for begin, end in itertools.pairwise(ends)])


@rule("Slice")
def _slice(
    do: Trace,
    node: Call,
    x: Value,
    starts: Value | None = None,
    ends: Value | None = None,
    axes: Value | None = None,
    steps: Value | None = None,
) -> Value:
    begin, end = integers(do, node, "starts", starts), integers(do, node, "ends", ends)
    along = _axes(integers(do, node, "axes", axes, [*range(len(begin))]), x.ndim)
    strides = integers(do, node, "steps", steps, [1] * len(begin))
    parts = [slice(None)] * x.ndim
    for axis, first, last, step in zip(along, begin, end, strides, strict=True):
        extent = x.shape[axis]
        stop = None if step < 0 and last < -extent else last
        # From before the first element NumPy takes nothing backwards, ONNX the first.
        parts[axis] = slice(max(first, -extent), stop, step)
    content = x.array
    if content is not None and not x.is_read and x.element is None:
        return node.lasting(f"part {parts}", lambda: content[tuple(parts)], x)
    return x[tuple(parts)]


@rule("Pad")
def _pad(
    do: Trace,
    node: Call,
    x: Value,
    pads: Value | None = None,
    value: Value | None = None,
    axes: Value | None = None,
) -> Value:
    counts = integers(do, node, "pads", pads)
    along = _axes(integers(do, node, "axes", axes, [*range(x.ndim)]), x.ndim)
    if len(counts) != 2 * len(along):
        message = f"{len(counts)} pads are given, and {len(along)} dimensions need {2 * len(along)}"
        raise ValueError(message)
    number = do.host(value).item() if value is not None and value.size else node.get("value", 0)
    before, after = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(along):
        before[axis], after[axis] = counts[place], counts[len(along) + place]
    mode = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "circular"}[
        node.get("mode", "constant")
    ]
    if mode != "constant" and min(*before, *after) < 0:
        crop = [
            slice(max(-low, 0), extent - max(-high, 0))
            for low, high, extent in zip(before, after, x.shape, strict=True)
        ]
        x, before, after = x[tuple(crop)], [max(each, 0) for each in before], [max(each, 0) for each in after]
    if mode == "circular":
        for axis, extent in enumerate(x.shape):
            if max(before[axis], after[axis]) > extent > 0:  # the family goes around once, ONNX as often as needed
                turns = np.arange(-before[axis], extent + after[axis]) % extent
                x, before[axis], after[axis] = gathered(do, x, do.constant(turns), axis), 0, 0
    return do.pad(x, before, after, number, mode)


@rule("Tile")
def _tile(do: Trace, node: Call, x: Value, repeats: Value) -> Value:
    counts = [int(each) for each in do.host(repeats)]
    apart = [extent for axis in x.shape for extent in (1, axis)]
    spread = [extent for pair in zip(counts, x.shape, strict=True) for extent in pair]
    whole = [count * extent for count, extent in zip(counts, x.shape, strict=True)]
    return do.reshape(do.reshape(x, apart).expand(spread), whole)


@rule("DepthToSpace")
def _depth_to_space(do: Trace, node: Call, x: Value) -> Value:
    block, (n, c, h, w) = node.get("blocksize"), x.shape
    if node.get("mode", "DCR") == "DCR":
        apart = do.reshape(x, (n, block, block, c // block**2, h, w)).permute((0, 3, 4, 1, 5, 2))
    else:
        apart = do.reshape(x, (n, c // block**2, block, block, h, w)).permute((0, 1, 4, 2, 5, 3))
    return do.reshape(apart, (n, c // block**2, h * block, w * block))


@rule("SpaceToDepth")
def _space_to_depth(do: Trace, node: Call, x: Value) -> Value:
    block, (n, c, h, w) = node.get("blocksize"), x.shape
    order = (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = do.reshape(x, (n, c, h // block, block, w // block, block)).permute(order)
    return do.reshape(apart, (n, c * block**2, h // block, w // block))


@rule("Trilu")
def _trilu(do: Trace, node: Call, x: Value, k: Value | None = None) -> Value:
    place = int(do.host(k).item()) if k is not None else 0
    is_upper = node.get("upper", 1)
    rows, columns = x.shape[-2:]
    keep = np.tri(rows, columns, k=place - 1 if is_upper else place, dtype=np.bool_)
    return do.where(do.constant(~keep if is_upper else keep), x, do.constant(0, x.dtype))


@rule("EyeLike")
def _eye_like(do: Trace, node: Call, x: Value) -> Value:
    from ep_onnx.elements import dtype_of  # noqa: PLC0415 - a constant's type alone

    given = node.get("dtype")
    if x.ndim != 2:  # noqa: PLR2004 - a matrix
        message = f"the input has {x.ndim} dimensions, needs 2"
        raise ValueError(message)
    dtype = x.dtype if given is None else dtype_of(given, node.node.title)
    return do.cast(do.constant(np.eye(x.shape[0], x.shape[1], k=node.get("k", 0))), dtype)


@rule("Range")
def _range(do: Trace, node: Call, start: Value, limit: Value, delta: Value) -> Value:
    first, end, step = (do.host(each).item() for each in (start, limit, delta))
    count = max(math.ceil((end - first) / step), 0)
    return do.constant(first + step * np.arange(count), start.dtype)


@rule("CenterCropPad")
def _center_crop_pad(do: Trace, node: Call, x: Value, shape: Value) -> Any:
    return NotImplemented


@rule("ReverseSequence")
def _reverse_sequence(do: Trace, node: Call, x: Value, lengths: Value) -> Value:
    along, batch = node.get("time_axis", 0), node.get("batch_axis", 1)
    counts = [int(each) for each in do.host(lengths).reshape(-1)]
    if len(counts) != x.shape[batch] or not all(0 <= each <= x.shape[along] for each in counts):
        message = f"lengths {counts} are given for a batch of {x.shape[batch]} and {x.shape[along]} steps; give one for each, of at most so many"
        raise ValueError(message)
    out = do.empty(x.dtype, x.shape)
    for place, length in enumerate(counts):
        for source, target in ((slice(length - 1, None, -1), slice(0, length)), (slice(length, None),) * 2):
            parts = [[slice(None)] * x.ndim for _ in range(2)]
            for part, along_time in zip(parts, (source, target), strict=True):
                part[batch], part[along] = slice(place, place + 1), along_time
            taken, there = x[tuple(parts[0])], out[tuple(parts[1])]
            if there.size:
                do.copy(taken, there)
    return out


def _axes(given: Sequence[int], rank: int) -> list[int]:
    axes = [axis + rank if axis < 0 else axis for axis in given]
    if any(not 0 <= axis < rank for axis in axes) or len(set(axes)) != len(axes):
        message = f"axes {[*given]} do not name each a dimension of {rank} once"
        raise ValueError(message)
    return axes
