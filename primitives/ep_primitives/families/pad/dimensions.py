"""The dimensions of a Pad as kernels walk them: the fewest that visit the same elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ep_primitives.families.pad.descriptor import Pad

__all__ = ["PadDimension", "merged_dimensions"]


class PadDimension(NamedTuple):
    """Extents of out and x, elements in front of x, steps in elements."""

    extent: int
    source: int
    before: int
    x_step: int
    out_step: int

    @property
    def is_plain(self) -> bool:
        """True if nothing is padded or cropped."""
        return self.extent == self.source and not self.before

    def joined(self, inner: PadDimension) -> PadDimension:
        """Return this dimension with a plain one inside it as one."""
        each = inner.extent
        return PadDimension(self.extent * each, self.source * each, self.before * each, inner.x_step, inner.out_step)


def merged_dimensions(descriptor: Pad) -> list[PadDimension]:
    """Return the fewest dimensions that visit the same elements, outermost first by the strides of out, at least one.

    A plain dimension becomes one with that around it, where both operands cross them in one step; around it there may
    be padding only in modes that repeat or leave out whole elements in order.
    """
    x, out = descriptor.x, descriptor.out
    given = zip(out.shape, x.shape, descriptor.before, x.strides, out.strides, strict=True)
    dimensions = [_seen(*each) for each in given if each[:3] != (1, 1, 0)]
    dimensions.sort(key=lambda each: -abs(each.out_step))
    in_order = descriptor.op in {"constant", "circular"}
    merged: list[PadDimension] = []
    for inner in dimensions:
        outer = merged[-1] if merged else None
        if (
            outer is not None
            and inner.is_plain
            and (in_order or outer.is_plain)
            and outer.out_step == inner.out_step * inner.extent
            and (outer.source == 1 or outer.x_step == inner.x_step * inner.extent)
        ):
            merged[-1] = outer.joined(inner)
        else:
            merged.append(inner)
    return merged or [PadDimension(1, 1, 0, 1, 1)]


def _seen(extent: int, source: int, before: int, x_step: int, out_step: int) -> PadDimension:
    """Return a dimension; where nothing of x is left, counts of any size do not matter."""
    if before >= extent or before + source <= 0:
        source = before = 0
    return PadDimension(extent, source, before, x_step, out_step)
