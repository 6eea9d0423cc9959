"""Gather by runs: elements contiguous in x and in the output move together, from the place that an index gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Gather

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "RunGather"]


class RunGather(Planned):
    """Runs of bytes, of every element type, rank, stride and batch; single elements by their size."""

    def plan(self, descriptor: Gather, native: Native) -> Plan:
        """Take the innermost dimension as a run if no index counts in it and it is contiguous."""
        del native
        geometry, itemsize = descriptor.geometry, descriptor.x.itemsize
        sizes = tuple(spec.itemsize for spec in (descriptor.x, descriptor.indices, descriptor.out))
        shape, strides, run = geometry.shape, geometry.strides, itemsize
        if descriptor.out.size and shape and tuple(own[-1] for own in strides) == (1, 0, 1):
            shape, strides, run = shape[:-1], tuple(own[:-1] for own in strides), shape[-1] * itemsize
        shape, strides = (shape, strides) if shape else ((1,), ((0,),) * len(strides))
        fields = {
            "extent": descriptor.extent,
            "reach": descriptor.x.nbytes,
            "step": descriptor.step * itemsize,
            "run": run,
            "size": descriptor.out.size * itemsize // run,
            "traffic": descriptor.nbytes_moved,
            "index_size": descriptor.indices.itemsize,
            "ndim": len(shape),
            "offset": [offset * size for offset, size in zip(geometry.offsets, sizes, strict=True)],
            "shape": shape,
            "stride": [[stride * size for stride in own] for own, size in zip(strides, sizes, strict=True)],
        }
        return Plan("ep_gather_plan", fields)


IMPLEMENTATIONS: Final = {Gather: (RunGather(),)}
