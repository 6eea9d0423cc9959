"""PyTorch's functions of windows, one for each number of spatial dimensions."""

from __future__ import annotations

from typing import Any, Final

import torch

__all__ = ["NOTHING", "spatial"]

NOTHING: Final = "not implemented for {}"


def spatial(name: str, dimensions: int) -> Any:
    """Return the function for so many spatial dimensions."""
    call = getattr(torch.nn.functional, f"{name}{dimensions}d", None)
    if call is None:
        raise RuntimeError(NOTHING.format(f"{dimensions} dimensions"))
    return call
