"""GroupNorm: the kernels of LayerNorm over rows that are groups, with one number of scale and of bias for a channel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ep_primitives import GroupNorm

from ep_simt.body import Body
from ep_simt.elements import ELEMENTS
from ep_simt.families.layer_norm.body import NormRows, Variant, norm_program
from ep_simt.plan import Plan, operands_of

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    from ep_simt.program import Program
    from ep_simt.target import Target

__all__ = ["BODY"]


class _GroupNorm(Body):
    """One launch: three passes over each group, the first two of which are sums."""

    descriptor = GroupNorm
    entry: Final = ("group_norm",)

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return self.entry

    def program(self, key: KernelKey, target: Target) -> Program:
        elements = tuple(ELEMENTS.get(dtype, "") for dtype in key.dtypes)
        return norm_program(Variant(*self.entry, (*elements, "", ""), ELEMENTS[key.compute], key.wide, target))

    def plan(self, descriptor: GroupNorm, target: Target) -> Plan:
        if not descriptor.x.size:
            return Plan(())
        across, along = descriptor.across, descriptor.along
        x, scale, bias, y = (outer + inner for outer, inner in zip(across.strides, along.strides, strict=True))
        rows = NormRows(across.shape + along.shape, (x, y, scale, bias), len(across.shape), _is_plain(along))
        operands = operands_of(descriptor, descriptor.geometry.offsets)
        return Plan((rows.launch(descriptor.key, target, *operands, descriptor.epsilon),))


BODY: Final[Body] = _GroupNorm()


def _is_plain(along: Geometry) -> bool:
    """Return True if a group is one run of neighbours in x and y, and each channel one of its innermost dimension."""
    x, scale, bias, y = along.strides
    dense = tuple(math.prod(along.shape[axis + 1 :]) for axis in range(len(along.shape)))
    return x == y == dense and all(not own or own[-1] == 0 for own in (scale, bias))
