"""LayerNorm in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _layer_norm(descriptor: Any, x: Tensor, scale: Tensor | None, bias: Tensor | None) -> dict[str, Tensor]:
    shape = descriptor.x.shape[descriptor.axis :]
    made = torch.native_layer_norm(x, shape, scale, bias, descriptor.epsilon)
    named = dict(zip(("y", "mean", "rstd"), made, strict=True))
    wanted = descriptor.outputs.items()
    return {name: named[name].reshape(spec.shape).to(getattr(torch, spec.dtype)) for name, spec in wanted}


EXPRESSIONS: Final = {"layer_norm": _layer_norm}
