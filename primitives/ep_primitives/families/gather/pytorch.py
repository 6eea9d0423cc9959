"""Gather in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["BARE", "EXPRESSIONS"]


def _bare_gather(descriptor: Any, x: Tensor, indices: Tensor) -> Tensor:
    return _taken(x, indices, descriptor.axis, descriptor.batch_dims).reshape(descriptor.out.shape)


def _gather(descriptor: Any, x: Tensor, indices: Tensor) -> Tensor:
    x = torch.atleast_1d(x)
    axis, extent = descriptor.axis, x.shape[descriptor.axis]
    zeros = x.new_zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    inside = (indices >= 0) & (indices < extent)
    return _bare_gather(descriptor, torch.cat([x, zeros], axis), torch.where(inside, indices, extent))


def _taken(x: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor:
    if not batch_dims:
        return x.index_select(axis, indices.reshape(-1))
    each = [_taken(*pair, axis - 1, batch_dims - 1) for pair in zip(x, indices, strict=True)]
    return torch.stack(each) if each else x.new_empty(0)


EXPRESSIONS: Final = {"gather": _gather}

BARE: Final = {"gather": _bare_gather}
"""PyTorch's own, without the guard against indices out of range above, at which this raises."""
