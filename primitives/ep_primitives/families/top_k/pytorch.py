"""TopK in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]

_SHORT: Final = 2


def _top_k(descriptor: Any, x: Tensor) -> dict[str, Tensor]:
    """Return the front of a stable sort: `torch.topk` leaves open which of equal elements it takes."""
    is_bool, is_largest = x.dtype == torch.bool, descriptor.op == "largest"
    keys = (x.view(torch.uint8) != 0).to(torch.uint8) if is_bool else x
    order = torch.sort(torch.atleast_1d(keys), dim=descriptor.axis, descending=is_largest, stable=True).indices
    chosen = order.narrow(descriptor.axis, 0, descriptor.k)
    indices = chosen if descriptor.sorted else torch.sort(chosen, descriptor.axis).values
    # PyTorch quiets NaNs of 16 bits that it gathers.
    words = x.view(torch.int16) if x.dtype.itemsize == _SHORT else x
    values = torch.take_along_dim(torch.atleast_1d(words), indices, descriptor.axis).view(x.dtype)
    shape = descriptor.out.shape
    return {"values": values.reshape(shape), "indices": indices.reshape(shape)}


EXPRESSIONS: Final = {"top_k": _top_k}
