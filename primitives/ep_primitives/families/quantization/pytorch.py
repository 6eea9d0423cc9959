"""Dequantize and Quantize in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _quantize(descriptor: Any, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    wide, limits = widest(x), torch.iinfo(getattr(torch, descriptor.out.dtype))
    steps = torch.round(x.to(wide) / _spread(descriptor, scale).to(wide)).double()
    moved = steps if zero_point is None else steps + _spread(descriptor, zero_point).double()
    counted = torch.where(steps.isnan(), 0.0, moved).clamp(limits.min, limits.max)
    return counted.to(getattr(torch, descriptor.out.dtype))


def _dequantize(descriptor: Any, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    wide = widest(scale)
    steps = x.to(wide) if zero_point is None else x.to(wide) - _spread(descriptor, zero_point).to(wide)
    return (steps * _spread(descriptor, scale).to(wide)).to(scale.dtype)


def _spread(descriptor: Any, each: Tensor) -> Tensor:
    """Return one scale an element along the axis where one stands for a block of them."""
    if not descriptor.block:
        return each
    return each.repeat_interleave(descriptor.block, descriptor.axis).narrow(
        descriptor.axis, 0, descriptor.x.shape[descriptor.axis]
    )


EXPRESSIONS: Final = {"quantize": _quantize, "dequantize": _dequantize}
