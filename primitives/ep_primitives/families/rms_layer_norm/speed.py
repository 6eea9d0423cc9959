"""The samples of RmsLayerNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, cached_rows
from ep_primitives.families.rms_layer_norm import RmsLayerNorm

__all__ = ["SAMPLES"]


def _sample(dtype: str, rows: int, width: int) -> Sample:
    descriptor, cached = (
        RmsLayerNorm.infer(TensorSpec(dtype, (count, width)), TensorSpec(dtype, (width,)))
        for count in (rows, cached_rows(width))
    )
    return Sample(f"{rows}x{width}", descriptor, cached=cached)


SAMPLES: Final = [_sample("float32", 4096, 1024), _sample("bfloat16", 4096, 1024)]
