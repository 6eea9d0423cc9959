"""The samples of RmsLayerNorm."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.rms_layer_norm import RmsLayerNorm

__all__ = ["SAMPLES"]


def _sample(dtype: str, rows: int, width: int) -> Sample:
    return Sample(f"{rows}x{width}", RmsLayerNorm.infer(TensorSpec(dtype, (rows, width)), TensorSpec(dtype, (width,))))


SAMPLES: Final = [_sample("float32", 4096, 1024), _sample("bfloat16", 4096, 1024)]
