"""RmsLayerNorm: the kernels of LayerNorm, with 0 for the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep.layout.dims import merge
from ep_primitives import RmsLayerNorm
from ep_primitives.reductions.dimensions import part

from ep_simt.body import Body
from ep_simt.elements import ELEMENTS
from ep_simt.families.layer_norm.body import NormRows, Variant, are_neighbours, norm_program
from ep_simt.plan import Plan, operands_of

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.program import Program
    from ep_simt.target import Target

__all__ = ["BODY"]


class _RmsLayerNorm(Body):
    """One launch: two passes over each row, the first of which is a sum."""

    descriptor = RmsLayerNorm
    entry: Final = ("rms_layer_norm",)

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return self.entry

    def program(self, key: KernelKey, target: Target) -> Program:
        x, scale, y = (ELEMENTS.get(dtype, "") for dtype in key.dtypes)
        variant = Variant(*self.entry, (x, scale, "", y, "", ""), ELEMENTS[key.compute], key.wide, target)
        return norm_program(variant)

    def plan(self, descriptor: RmsLayerNorm, target: Target) -> Plan:
        x, y, scale = descriptor.x, descriptor.out, dict(descriptor.factors).get("scale")
        if not y.size:
            return Plan(())
        outer, inner = range(descriptor.axis), range(descriptor.axis, y.ndim)
        across = merge(part(y, outer), [part(x, outer), part(y, outer), None, None])
        along = merge(part(y, inner), [part(x, inner), part(y, inner), scale, None], keeps_order=True)
        columns = [over + own for over, own in zip(across.strides, along.strides, strict=True)]
        own = along.strides[: 2 if scale is None else 3]
        rows = NormRows(across.shape + along.shape, columns, len(across.shape), are_neighbours(own))
        operands = operands_of(descriptor, descriptor.geometry.offsets)
        return Plan((rows.launch(descriptor.key, target, *operands, descriptor.epsilon),))


BODY: Final[Body] = _RmsLayerNorm()
