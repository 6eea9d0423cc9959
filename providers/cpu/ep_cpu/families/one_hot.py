"""OneHot by rows: a buffer of `off`, in which `on` is put for each row, is copied to where the rows lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import OneHot

from ep_cpu.kernel import Plan, Planned
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "RowOneHot"]


class RowOneHot(Planned):
    """Whole rows of classes, or blocks of positions where classes lie apart; every element type, rank and stride."""

    def plan(self, descriptor: OneHot, native: Native) -> Plan:
        del native
        geometry, indices, out = descriptor.geometry, descriptor.indices, descriptor.out
        sizes, places = (indices.itemsize, out.itemsize), (0, -1)
        strides = [geometry.strides[place] or (0,) for place in places]
        shape = geometry.shape or (1,)
        fields = {
            "first": descriptor.first,
            "classes": descriptor.classes,
            "step": descriptor.step * out.itemsize,
            "size": indices.size,
            "traffic": descriptor.nbytes_moved,
            "index_size": indices.itemsize,
            "ndim": len(shape),
            "offset": [geometry.offsets[place] * size for place, size in zip(places, sizes, strict=True)],
            "shape": shape,
            "stride": [[stride * size for stride in own] for own, size in zip(strides, sizes, strict=True)],
        }
        return Plan("ep_one_hot_plan", fields, numbers=numbers_of(descriptor.compute, 2))


IMPLEMENTATIONS: Final = {OneHot: (RowOneHot(),)}
