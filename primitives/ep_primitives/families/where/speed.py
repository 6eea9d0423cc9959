"""The samples of Where."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.where import Where

__all__ = ["SAMPLES"]


def _sample(dtype: str, size: str) -> Sample:
    spec = TensorSpec(dtype, (SIZES[size],))
    return Sample(size, Where.infer(TensorSpec("bool", spec.shape), spec, spec), is_quick=size == "64Ki")


SAMPLES: Final = [
    *(_sample("float32", size) for size in ("64Ki", "1Mi", "16Mi")),
    _sample("bfloat16", "16Mi"),
]
