"""The samples of TopK."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, distinct
from ep_primitives.families.top_k import TopK

__all__ = ["SAMPLES"]


SAMPLES: Final = [
    Sample("8-of-1024x1024", TopK.infer("largest", TensorSpec("float32", (1024, 1024)), 8), {"x": distinct}),
    Sample("50-of-16x50257", TopK.infer("largest", TensorSpec("float32", (16, 50257)), 50), {"x": distinct}),
]
