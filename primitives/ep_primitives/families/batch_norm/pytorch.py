"""BatchNorm in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _batch_norm(descriptor: Any, x: Tensor, *given: Tensor | None) -> Tensor:
    wide = widest(x)
    columns = [None if each is None else each.to(wide) for each in given]
    rows = torch.atleast_2d(x.to(wide).movedim(descriptor.axis, -1)).movedim(-1, 1)
    made = torch.nn.functional.batch_norm(rows, *columns, eps=descriptor.epsilon).movedim(1, -1)
    shape = [extent for axis, extent in enumerate(x.shape) if axis != descriptor.axis]
    return made.reshape(*shape, made.shape[-1]).movedim(-1, descriptor.axis).to(x.dtype)


EXPRESSIONS: Final = {"batch_norm": _batch_norm}
