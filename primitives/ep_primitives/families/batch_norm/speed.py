"""The samples of BatchNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between
from ep_primitives.families.batch_norm import BatchNorm

__all__ = ["SAMPLES"]

_CHANNELS: Final = TensorSpec("float32", (128,))

SAMPLES: Final = [
    Sample(
        "8x128x64x64",
        BatchNorm.infer(TensorSpec("float32", (8, 128, 64, 64)), _CHANNELS, _CHANNELS, _CHANNELS, _CHANNELS),
        {"variance": between(0.5, 2)},
    ),
]
