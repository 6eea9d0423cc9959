"""Pool in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives.judging.pytorch import ORDERS
from ep_primitives.sliding.pytorch import NOTHING, spatial

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _pool(descriptor: Any, x: Tensor) -> Tensor:
    sliding = descriptor.sliding
    dimensions = len(sliding.window)
    is_ceil = descriptor.out.shape[2:] != sliding.counts("", descriptor.x.shape[2:])
    if sliding.before != sliding.after or any(
        2 * pad > extent for pad, extent in zip(sliding.before, sliding.window, strict=True)
    ):
        raise RuntimeError(NOTHING.format("these pads"))
    if descriptor.op == "max":
        call = spatial("max_pool", dimensions)
        return call(x, sliding.window, sliding.strides, sliding.before, sliding.dilations, is_ceil)
    if set(sliding.dilations) != {1}:
        raise RuntimeError(NOTHING.format("dilations"))
    if descriptor.op == "average":
        call = spatial("avg_pool", dimensions)
        return call(x, sliding.window, sliding.strides, sliding.before, is_ceil, descriptor.counts_pads)
    if any(sliding.before):
        raise RuntimeError(NOTHING.format("pads of norms"))
    call = spatial("lp_pool", dimensions)
    window = sliding.window if dimensions > 1 else sliding.window[0]
    return call(x, ORDERS[descriptor.op], window, sliding.strides, is_ceil)


EXPRESSIONS: Final = {"pool": _pool}
