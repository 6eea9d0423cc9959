"""Convolution in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.sliding.pytorch import NOTHING, spatial

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _convolution(descriptor: Any, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    sliding = descriptor.sliding
    if not descriptor.terms:
        raise RuntimeError(NOTHING.format("images without channels"))
    flat = [side for pair in reversed([*zip(sliding.before, sliding.after, strict=True)]) for side in pair]
    call = spatial("conv", len(sliding.window))
    given = [each if each is None or each.is_floating_point() else each.to(torch.float64) for each in (x, w, bias)]
    padded = torch.nn.functional.pad(given[0], flat)
    y = call(padded, *given[1:], sliding.strides, 0, sliding.dilations, descriptor.groups)
    return y if x.is_floating_point() else y.to(torch.int64).to(torch.int32)


EXPRESSIONS: Final = {"convolution": _convolution}
