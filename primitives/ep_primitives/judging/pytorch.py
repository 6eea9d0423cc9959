"""Arrays of EP's element types as tensors of PyTorch's, and back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from ep_primitives.judging.reference import array_dtype

__all__ = ["ORDERS", "tensor", "untensor", "widest"]

ORDERS: Final = {"norm_1": 1, "norm_2": 2, "norm_inf": torch.inf}


def tensor(dtype: str, value: Any) -> torch.Tensor:
    """Return an array, or a number, of an element type of EP; PyTorch shares NumPy's own types alone, so bytes travel."""
    array = np.array(value, array_dtype(dtype), order="C")
    if not array.size:
        return torch.empty(array.shape, dtype=getattr(torch, dtype))
    raw = torch.from_numpy(array.reshape(-1).view(np.uint8))
    return raw.view(getattr(torch, dtype)).reshape(array.shape)


def untensor(dtype: str, value: torch.Tensor) -> Any:
    """Return the array of a tensor."""
    if not value.numel():
        return np.empty(value.shape, array_dtype(dtype))
    dense = torch.empty(value.numel(), dtype=value.dtype).copy_(value.reshape(-1))
    return dense.view(torch.uint8).numpy().view(array_dtype(dtype)).reshape(tuple(value.shape))


def widest(x: torch.Tensor) -> torch.dtype:
    """Return the type in which EP computes: float32 for narrower floats, else the type itself."""
    return torch.promote_types(x.dtype, torch.float32) if x.is_floating_point() else x.dtype
