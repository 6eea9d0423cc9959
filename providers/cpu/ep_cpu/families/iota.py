"""Iota: the walk of elementwise kernels over out and over places, which are addresses that no kernel reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Iota

from ep_cpu.kernel import Plan, Planned
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "PlaceCount"]


class PlaceCount(Planned):
    """Each element from its own place, so that any part of out can be filled first: any strides, of any instruction set."""

    def row(self, descriptor: Iota) -> Row:
        return descriptor.family, descriptor.op, descriptor.out.dtype, descriptor.out.dtype

    def plan(self, descriptor: Iota, native: Native) -> Plan:
        """Describe the numbers, which stay where they are, places along the axis in bytes, and out.

        Dimensions are walked in the order of out's strides, so that stores run along memory whatever the axis.
        """
        del native
        geometry, out = descriptor.geometry, descriptor.out
        strides = geometry.strides[-1]
        places = (*(0 for _ in strides[:-1]), 1)
        order = sorted(range(len(strides)), key=lambda k: -abs(strides[k]))
        fields = {
            "size": geometry.size,
            "traffic": out.size * out.itemsize,
            "operands": 3,
            "ndim": len(order),
            "scalar": -1,
            "offset": [0, 0, geometry.offsets[-1] * out.itemsize],
            "itemsize": [0, 1, out.itemsize],
            "shape": [geometry.shape[k] for k in order],
            "stride": [[0] * len(order), [places[k] for k in order], [strides[k] * out.itemsize for k in order]],
        }
        return Plan("ep_geometry", fields, numbers=numbers_of(descriptor.compute, 2))


IMPLEMENTATIONS: Final = {Iota: (PlaceCount(),)}
