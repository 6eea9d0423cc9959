"""ArgReduce in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _arg_reduce(descriptor: Any, x: Tensor) -> Tensor:
    x = x.to(torch.uint8) if x.dtype == torch.bool else x
    found = (torch.argmax if descriptor.op == "max" else torch.argmin)(x, descriptor.axis)
    return found.reshape(descriptor.out.shape).to(getattr(torch, descriptor.out.dtype))


EXPRESSIONS: Final = {"arg_reduce": _arg_reduce}
