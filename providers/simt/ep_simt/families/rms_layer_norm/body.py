"""RmsLayerNorm: the kernels of LayerNorm, with 0 for the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep.layout.dims import merge
from ep_primitives import RmsLayerNorm
from ep_primitives.reductions.dimensions import part

from ep_simt.families.layer_norm.norm import Norm, NormRows, are_neighbours

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]


class _RmsLayerNorm(Norm):
    descriptor = RmsLayerNorm

    def rows(self, descriptor: RmsLayerNorm) -> NormRows:
        x, y, scale = descriptor.x, descriptor.out, dict(descriptor.factors).get("scale")
        outer, inner = range(descriptor.axis), range(descriptor.axis, y.ndim)
        across = merge(part(y, outer), [part(x, outer), part(y, outer), None, None])
        along = merge(part(y, inner), [part(x, inner), part(y, inner), scale, None], keeps_order=True)
        columns = [over + own for over, own in zip(across.strides, along.strides, strict=True)]
        own = along.strides[: 2 if scale is None else 3]
        return NormRows(across.shape + along.shape, columns, len(across.shape), are_neighbours(own))


BODY: Final[Body] = _RmsLayerNorm()
