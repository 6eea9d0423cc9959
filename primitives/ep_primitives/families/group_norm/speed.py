"""The samples of GroupNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.group_norm import GroupNorm

__all__ = ["SAMPLES"]

_CHANNELS: Final = TensorSpec("float32", (128,))

SAMPLES: Final = [
    Sample("8x128x64x64", GroupNorm.infer(TensorSpec("float32", (8, 128, 64, 64)), 32, _CHANNELS, _CHANNELS)),
]
