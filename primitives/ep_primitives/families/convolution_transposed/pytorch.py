"""ConvolutionTransposed in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives.sliding.pytorch import NOTHING, spatial

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _convolution_transposed(descriptor: Any, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """Return y, cut here from the whole at both ends: PyTorch pads both sides alike."""
    sliding = descriptor.sliding
    if not descriptor.terms:
        raise RuntimeError(NOTHING.format("images without channels"))
    call = spatial("conv_transpose", len(sliding.window))
    whole = call(x, w, bias, sliding.strides, 0, 0, descriptor.groups, sliding.dilations)
    sides = zip(sliding.before, descriptor.out.shape[2:], whole.shape[2:], strict=True)
    counts = [(-before, before + extent - full) for before, extent, full in sides]
    more = [max(behind, 0) for _, behind in counts]
    if any(more):
        whole = call(x, w, bias, sliding.strides, 0, tuple(more), descriptor.groups, sliding.dilations)
    kept = [
        slice(before, before + extent) for before, extent in zip(sliding.before, descriptor.out.shape[2:], strict=True)
    ]
    return whole[(slice(None), slice(None), *kept)]


EXPRESSIONS: Final = {"convolution_transposed": _convolution_transposed}
