"""Reduce in PyTorch, a second opinion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import ORDERS, widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


_REDUCTIONS: Final = {"max": "amax", "min": "amin", "log_sum_exp": "logsumexp"}


def _reduce(descriptor: Any, x: Tensor) -> Tensor:
    x, axes = (x, descriptor.axes) if descriptor.axes else (x.unsqueeze(-1), (x.ndim,))  # () means all axes to PyTorch
    op, out = descriptor.op, getattr(torch, descriptor.out.dtype)
    if op in ORDERS:
        reduced = torch.linalg.vector_norm(x, ORDERS[op], axes)
    elif op == "prod":  # which takes one axis
        kept = [dimension for dimension in range(x.ndim) if dimension not in axes]
        terms = math.prod(x.shape[axis] for axis in axes)
        reduced = (
            x.permute(*kept, *axes).reshape(*(x.shape[dimension] for dimension in kept), terms).prod(-1, dtype=out)
        )
    elif op == "sum":
        reduced = x.sum(axes, dtype=out)
    elif op == "sum_of_squares":
        wide = x.to(widest(x))
        parts = torch.view_as_real(wide) if wide.is_complex() else wide.unsqueeze(-1)
        reduced = parts.square().sum((*axes, parts.ndim - 1)).to(out)
    else:
        reduced = getattr(torch, _REDUCTIONS.get(op, op))(x, axes)
    return reduced.reshape(descriptor.out.shape)


EXPRESSIONS: Final = {"reduce": _reduce}
