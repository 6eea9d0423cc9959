"""Pad in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


_PAD_MODES: Final = {"reflect": "reflect", "edge": "replicate", "circular": "circular"}


def _pad(descriptor: Any, x: Tensor, value: Tensor | None = None) -> Tensor:
    sides = list(zip(descriptor.before, descriptor.after, strict=True))
    if value is not None:
        flat = [side for pair in reversed(sides) for side in pair]
        return torch.constant_pad_nd(x, flat, value.item())
    for dimension, pair in enumerate(sides):  # one dimension at a time, because PyTorch takes no more than three
        rows = x.movedim(dimension, -1)
        if any(pair) and rows.numel():
            padded = torch.nn.functional.pad(rows.reshape(1, -1, rows.shape[-1]), pair, mode=_PAD_MODES[descriptor.op])
        else:
            padded = rows.new_empty(*rows.shape[:-1], rows.shape[-1] + sum(pair)) if any(pair) else rows
        x = padded.reshape(*rows.shape[:-1], rows.shape[-1] + sum(pair)).movedim(-1, dimension)
    return x


EXPRESSIONS: Final = {"pad": _pad}
