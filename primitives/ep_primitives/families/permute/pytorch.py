"""Permute in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _permute(descriptor: Any, x: Tensor) -> Tensor:
    return x.permute(descriptor.permutation)


EXPRESSIONS: Final = {"permute": _permute}
