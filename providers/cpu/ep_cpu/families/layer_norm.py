"""LayerNorm row by row: the mean, the mean of the squared differences from it, and each element from these two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import LayerNorm

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "RowNorm"]


class RowNorm(Planned):
    """Two sums over each row in one fixed order, whatever the strides and the threads; every floating type."""

    def row(self, descriptor: LayerNorm) -> Row:
        return descriptor.family, descriptor.op, descriptor.x.dtype, descriptor.x.dtype

    def plan(self, descriptor: LayerNorm, native: Native) -> Plan:
        del native
        across, along = descriptor.across, descriptor.along
        sizes = [0 if spec is None else spec.itemsize for _, spec in descriptor.tensors]
        offsets = descriptor.geometry.offsets
        fields = {
            "present": [spec is not None for _, spec in descriptor.tensors],
            "ndim": len(across.shape),
            "inner": len(along.shape) or 1,
            "rows": across.size,
            "terms": descriptor.terms,
            "traffic": descriptor.nbytes_moved,
            "epsilon": descriptor.epsilon,
            "offset": [offset * size for offset, size in zip(offsets, sizes, strict=True)],
            "shape": across.shape,
            "stride": [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=True)],
            "extent": along.shape or (1,),
            "step": [[stride * size for stride in own or (1,)] for own, size in zip(along.strides, sizes, strict=True)],
        }
        return Plan("ep_layer_norm_plan", fields)


IMPLEMENTATIONS: Final = {LayerNorm: (RowNorm(),)}
