"""Pad: rows of the output, each of a left border, a run of x and a right border, over the fewest dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.spec import dense_strides
from ep_primitives import Pad

from ep_cpu.kernel import Plan, Planned
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "RowRuns"]


class RowRuns(Planned):
    """Runs of whole rows, copied or filled; elements are bytes, so every element type, stride and mode."""

    def plan(self, descriptor: Pad, native: Native) -> Plan:
        x, out, size = descriptor.x, descriptor.out, descriptor.out.itemsize
        dimensions = _merged(descriptor)
        steps = [dimension.out_step for dimension in dimensions]
        contiguous = dense_strides(tuple(dimension.extent for dimension in dimensions))
        fields = {
            "mode": getattr(native.lib, f"EP_PAD_{descriptor.op.upper()}"),
            "ndim": len(dimensions),
            "is_contiguous": tuple(steps) == contiguous,
            "size": out.size,
            "traffic": descriptor.nbytes_moved,
            "x_offset": x.offset * size,
            "out_offset": out.offset * size,
            "dimension": [
                (extent, source, before, x_step * size, out_step * size)
                for extent, source, before, x_step, out_step in dimensions
            ],
        }
        numbers = numbers_of(descriptor.compute, 1) if descriptor.op == "constant" else None
        return Plan("ep_pad_plan", fields, numbers)


class _Dimension(NamedTuple):
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

    def joined(self, inner: _Dimension) -> _Dimension:
        """Return this dimension with a plain one inside it as one."""
        each = inner.extent
        return _Dimension(self.extent * each, self.source * each, self.before * each, inner.x_step, inner.out_step)


def _merged(descriptor: Pad) -> list[_Dimension]:
    """Return the fewest dimensions that visit the same elements, outermost first by the strides of out, at least one.

    A plain dimension becomes one with that around it, where both operands cross them in one step; around it there may
    be padding only in modes that repeat or leave out whole elements in order.
    """
    x, out = descriptor.x, descriptor.out
    given = zip(out.shape, x.shape, descriptor.before, x.strides, out.strides, strict=True)
    dimensions = [_seen(*each) for each in given if each[:3] != (1, 1, 0)]
    dimensions.sort(key=lambda each: -abs(each.out_step))
    in_order = descriptor.op in {"constant", "circular"}
    merged: list[_Dimension] = []
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
    return merged or [_Dimension(1, 1, 0, 1, 1)]


def _seen(extent: int, source: int, before: int, x_step: int, out_step: int) -> _Dimension:
    """Return a dimension; where nothing of x is left, counts of any size do not matter."""
    if before >= extent or before + source <= 0:
        source = before = 0
    return _Dimension(extent, source, before, x_step, out_step)


IMPLEMENTATIONS: Final = {Pad: (RowRuns(),)}
