"""Random fills: blocks of words, made into elements and put where the output lies; each element knows its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import RandomFill

from ep_cpu.kernel import Plan, Planned
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "CounterFill"]


class CounterFill(Planned):
    """Words by their number, so that threads share no state: any strides, of any instruction set."""

    def row(self, descriptor: RandomFill) -> Row:
        return descriptor.family, descriptor.op, "uint64", descriptor.out.dtype

    def plan(self, descriptor: RandomFill, native: Native) -> Plan:
        """Describe the output alone, in the order of its elements."""
        del native
        geometry, out, limits = descriptor.geometry, descriptor.out, descriptor.limits
        shape, strides = geometry.shape or (1,), geometry.strides[-1] or (1,)
        fields = {
            "size": geometry.size,
            "traffic": out.size * out.itemsize,
            "operands": 1,
            "ndim": len(shape),
            "scalar": -1,
            "offset": [geometry.offsets[-1] * out.itemsize],
            "shape": shape,
            "stride": [[stride * out.itemsize for stride in strides]],
        }
        packed = numbers_of("uint64", 2)
        return Plan("ep_geometry", fields, numbers=lambda scalars: packed(limits(scalars)))


IMPLEMENTATIONS: Final = {RandomFill: (CounterFill(),)}
