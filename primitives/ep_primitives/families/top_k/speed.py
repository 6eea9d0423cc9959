"""The samples of TopK."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, cached_rows, distinct
from ep_primitives.families.top_k import TopK

__all__ = ["SAMPLES"]


def _sample(k: int, rows: int, width: int) -> Sample:
    few = max(2, cached_rows(width))
    descriptor, cached = (TopK.infer("largest", TensorSpec("float32", (each, width)), k) for each in (rows, few))
    return Sample(f"{k}-of-{rows}x{width}", descriptor, {"x": distinct}, cached=cached)


SAMPLES: Final = [_sample(8, 1024, 1024), _sample(50, 16, 50257)]
