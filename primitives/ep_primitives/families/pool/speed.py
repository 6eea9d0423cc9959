"""The samples of Pool."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.pool import Pool

__all__ = ["SAMPLES"]

_X: Final = TensorSpec("float32", (8, 64, 56, 56))

SAMPLES: Final = [
    Sample("8x64x56x56-by-2x2", Pool.infer("max", _X, 2, strides=2)),
    Sample("8x64x56x56-by-3x3", Pool.infer("average", _X, 3, strides=2)),
]
