"""GroupNorm: the kernels of LayerNorm over rows that are groups, with one number of scale and of bias for a channel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ep_primitives import GroupNorm

from ep_simt.families.layer_norm.norm import Norm, NormRows

if TYPE_CHECKING:
    from ep.layout.dims import Geometry

    from ep_simt.body import Body

__all__ = ["BODY"]


class _GroupNorm(Norm):
    descriptor = GroupNorm

    def rows(self, descriptor: GroupNorm) -> NormRows:
        across, along = descriptor.across, descriptor.along
        x, scale, bias, y = (outer + inner for outer, inner in zip(across.strides, along.strides, strict=True))
        return NormRows(across.shape + along.shape, (x, y, scale, bias), len(across.shape), _are_runs(along))


BODY: Final[Body] = _GroupNorm()


def _are_runs(along: Geometry) -> bool:
    """Return True if a group is one run of neighbours in x and y, and each channel one of its innermost dimension."""
    x, scale, bias, y = along.strides
    dense = tuple(math.prod(along.shape[axis + 1 :]) for axis in range(len(along.shape)))
    return x == y == dense and all(not own or own[-1] == 0 for own in (scale, bias))
