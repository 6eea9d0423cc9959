"""OneHot in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["BARE", "EXPRESSIONS"]


def _bare_one_hot(descriptor: Any, indices: Tensor, on: Tensor, off: Tensor) -> Tensor:
    classes = descriptor.out.shape[descriptor.axis]
    is_on = torch.nn.functional.one_hot(indices.to(torch.int64) - descriptor.first, classes)
    return torch.where(is_on.to(torch.bool), on, off).movedim(-1, descriptor.axis)


def _one_hot(descriptor: Any, indices: Tensor, on: Tensor, off: Tensor) -> Tensor:
    classes, first = descriptor.out.shape[descriptor.axis], descriptor.first
    is_known = (indices >= first) & (indices <= first + classes - 1)
    places = torch.where(is_known, indices.to(torch.int64) - first, classes)
    is_on = torch.nn.functional.one_hot(places, classes + 1)[..., :-1]
    return torch.where(is_on.to(torch.bool), on, off).movedim(-1, descriptor.axis)


EXPRESSIONS: Final = {"one_hot": _one_hot}

BARE: Final = {"one_hot": _bare_one_hot}
"""PyTorch's own, without the guard against indices out of range above, at which this raises."""
