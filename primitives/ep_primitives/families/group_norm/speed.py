"""The samples of GroupNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.group_norm import GroupNorm

__all__ = ["SAMPLES"]


def _group_norm(images: int, channels: int) -> GroupNorm:
    """Return the norm over groups of four channels."""
    each = TensorSpec("float32", (channels,))
    return GroupNorm.infer(TensorSpec("float32", (images, channels, 64, 64)), channels // 4, each, each)


SAMPLES: Final = [Sample("8x128x64x64", _group_norm(8, 128), cached=_group_norm(1, 16))]
