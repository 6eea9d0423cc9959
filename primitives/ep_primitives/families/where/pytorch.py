"""Where in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _where(descriptor: Any, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    is_true = condition if condition.dtype == torch.bool else condition != 0
    return torch.where(is_true, a, b).expand(descriptor.out.shape)


EXPRESSIONS: Final = {"where": _where}
