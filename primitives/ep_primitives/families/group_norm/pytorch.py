"""GroupNorm in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _group_norm(descriptor: Any, x: Tensor, scale: Tensor | None, bias: Tensor | None) -> Tensor:
    if not x.numel():
        return torch.empty_like(x)
    wide = widest(x)
    columns = [None if each is None else each.to(wide) for each in (scale, bias)]
    made = torch.group_norm(x.to(wide), descriptor.groups, *columns, descriptor.epsilon)
    return made.to(x.dtype)


EXPRESSIONS: Final = {"group_norm": _group_norm}
