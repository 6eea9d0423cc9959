"""Attention in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _attention(descriptor: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Return PyTorch's own attention in the compute type: it has no softcap, and no mask beside causality, of its own."""
    wide = widest(q)
    k, v = (each.repeat_interleave(descriptor.groups, -3) if descriptor.groups > 1 else each for each in (k, v))
    added = torch.zeros(descriptor.scores, dtype=wide)
    if mask is not None:
        is_bool = mask.dtype == torch.bool
        added = added.masked_fill(mask.view(torch.uint8) == 0, -torch.inf) if is_bool else added + mask
    if descriptor.is_causal:
        queries, keys = descriptor.scores[-2:]
        seen = torch.arange(keys) <= torch.arange(queries)[:, None] + descriptor.offset
        added = added.masked_fill(~seen, -torch.inf)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    if descriptor.softcap:
        cap = descriptor.softcap
        p = torch.softmax(cap * torch.tanh(descriptor.scale * (q @ k.mT) / cap) + added, -1)
        return (torch.where((added == -torch.inf).all(-1, keepdim=True), 0, p) @ v).to(
            getattr(torch, descriptor.out.dtype)
        )
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, added, scale=descriptor.scale)
    return found.to(getattr(torch, descriptor.out.dtype))


EXPRESSIONS: Final = {"attention": _attention}
