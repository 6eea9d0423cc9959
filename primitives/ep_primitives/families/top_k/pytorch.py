"""What PyTorch calls TopK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _top_k(descriptor: Any, x: Tensor) -> dict[str, Tensor]:
    """Return the front of a stable sort: `torch.topk` leaves open which of equal elements it takes."""
    is_bool, is_largest = x.dtype == torch.bool, descriptor.op == "largest"
    keys = (x.view(torch.uint8) != 0).to(torch.uint8) if is_bool else x
    order = torch.sort(torch.atleast_1d(keys), descriptor.axis, descending=is_largest, stable=True).indices
    chosen = order.narrow(descriptor.axis, 0, descriptor.k)
    indices = chosen if descriptor.sorted else torch.sort(chosen, descriptor.axis).values
    values = torch.take_along_dim(torch.atleast_1d(x), indices, descriptor.axis)
    shape = descriptor.out.shape
    return {"values": values.reshape(shape), "indices": indices.reshape(shape)}


EXPRESSIONS: Final = {"top_k": _top_k}
