"""The samples of LayerNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, cached_rows
from ep_primitives.families.layer_norm import LayerNorm

__all__ = ["SAMPLES"]


def _sample(dtype: str, rows: int, width: int, *, is_quick: bool = False) -> Sample:
    row = TensorSpec(dtype, (width,))
    descriptor, cached = (
        LayerNorm.infer(TensorSpec(dtype, (count, width)), row, row) for count in (rows, cached_rows(width))
    )
    return Sample(f"{rows}x{width}", descriptor, is_quick=is_quick, cached=cached)


SAMPLES: Final = [
    _sample("float32", 64, 768, is_quick=True),
    _sample("float32", 4096, 1024),
    _sample("bfloat16", 4096, 1024),
]
