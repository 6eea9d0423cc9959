"""CrossEntropy in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _cross_entropy(descriptor: Any, x: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
    """Return PyTorch's losses in the compute type; ignored labels, which may be no class, get its default."""
    wide, labels = widest(x), labels.to(torch.int64)
    counts = (labels >= 0) & (labels < x.shape[1])
    if descriptor.ignore_index is not None:
        counts &= labels != descriptor.ignore_index
    given = torch.where(counts, labels, -100)
    weights = None if weights is None else weights.to(wide)
    loss = torch.nn.functional.nll_loss if descriptor.is_log else torch.nn.functional.cross_entropy
    return loss(x.to(wide), given, weights, reduction=descriptor.reduction).to(x.dtype)


EXPRESSIONS: Final = {"cross_entropy": _cross_entropy}
