"""Blocks: a collective sends one stretch of memory to each rank, so parts along an axis are copied into stretches and back."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from ep_primitives import Copy, Fill

from ep_sharded.layout import slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import ep
    from ep import Tensor, TensorSpec

__all__ = ["along", "copy", "filled", "pack", "unpack"]


def copy(stream: ep.Stream, x: Tensor, out: Tensor) -> None:
    """Enqueue out = x."""
    Copy(x=x.spec, out=out.spec).on(stream.device)(stream, x=x, out=out)


def filled(stream: ep.Stream, spec: TensorSpec, value: float) -> Tensor:
    """Return a new tensor of one number."""
    out = stream.device.empty(spec)
    Fill.infer(spec).on(stream.device)(stream, value=value, out=out)
    return out


def along(x: Tensor, axis: int, part: range) -> Tensor:
    """Return a part of a tensor along an axis, in place."""
    return x[(*[slice(None)] * axis, slice_of(part))]


def pack(stream: ep.Stream, x: Tensor, axis: int, cuts: Sequence[range], room: int | None = None) -> Tensor:
    """Return the parts of x along an axis as dense blocks, one after the other, flat; x itself where it is that already.

    room : the extent of every block along the axis, at least that of its part; what is beyond the part is undefined. None:
           each block is as long as its part
    """
    if _is_packed(x.shape, axis, cuts, room):
        return x.reshape(-1)
    sizes = _sizes(x.shape, axis, cuts, room)
    flat = stream.device.empty(x.dtype, (sum(sizes),))
    for part, block in zip(cuts, _blocks(flat, x.shape, axis, cuts, room), strict=True):
        copy(stream, along(x, axis, part), along(block, axis, range(len(part))))
    return flat


def unpack(  # noqa: PLR0913, PLR0917 - as pack, and the shape of what comes back
    stream: ep.Stream, flat: Tensor, shape: Sequence[int], axis: int, cuts: Sequence[range], room: int | None = None
) -> Tensor:
    """Return the tensor of a shape whose parts along an axis are blocks, as `pack` makes them; the same memory where it can."""
    if _is_packed(shape, axis, cuts, room):
        return flat.reshape(*shape)
    out = stream.device.empty(flat.dtype, tuple(shape))
    for part, block in zip(cuts, _blocks(flat, shape, axis, cuts, room), strict=True):
        copy(stream, along(block, axis, range(len(part))), along(out, axis, part))
    return out


def _is_packed(shape: Sequence[int], axis: int, cuts: Sequence[range], room: int | None) -> bool:
    """Say whether the blocks are the dense tensor: nothing lies between them, nothing before the axis interleaves them."""
    is_whole = [*itertools.chain(*cuts)] == [*range(shape[axis])]
    is_tight = room is None or all(len(part) == room for part in cuts)
    return is_whole and is_tight and (len(cuts) == 1 or math.prod(shape[:axis]) == 1)


def _sizes(shape: Sequence[int], axis: int, cuts: Sequence[range], room: int | None) -> list[int]:
    row = math.prod([*shape[:axis], *shape[axis + 1 :]])
    return [row * (len(part) if room is None else room) for part in cuts]


def _blocks(flat: Tensor, shape: Sequence[int], axis: int, cuts: Sequence[range], room: int | None) -> Iterator[Tensor]:
    """Yield the block of each part, with the extents of a part, or with room along the axis."""
    ends = itertools.accumulate(_sizes(shape, axis, cuts, room))
    begin = 0
    for part, end in zip(cuts, ends, strict=True):
        extent = len(part) if room is None else room
        yield flat[begin:end].reshape(*shape[:axis], extent, *shape[axis + 1 :])
        begin = end
