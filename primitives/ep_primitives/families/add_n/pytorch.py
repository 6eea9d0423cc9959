"""AddN in PyTorch, a second opinion."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.judging.pytorch import widest

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _add_n(descriptor: Any, *x: Tensor) -> Tensor:
    wide = widest(x[0])
    terms = [each.to(wide) for each in x]
    return functools.reduce(torch.add, terms).to(x[0].dtype).expand(descriptor.out.shape)


EXPRESSIONS: Final = {"add_n": _add_n}
