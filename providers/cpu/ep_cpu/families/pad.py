"""Pad: rows of the output, each of a left border, a run of x and a right border, over the fewest dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep.layout.spec import dense_strides
from ep_primitives import Pad
from ep_primitives.families.pad.dimensions import merged_dimensions

from ep_cpu.kernel import Plan, Planned
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "RowRuns"]


class RowRuns(Planned):
    """Runs of whole rows, copied or filled; elements are bytes, so every element type, stride and mode."""

    def plan(self, descriptor: Pad, native: Native) -> Plan:
        x, out, size = descriptor.x, descriptor.out, descriptor.out.itemsize
        dimensions = merged_dimensions(descriptor)
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


IMPLEMENTATIONS: Final = {Pad: (RowRuns(),)}
