"""The samples of AddN."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.add_n import AddN

__all__ = ["SAMPLES"]


def _sample(count: int, dtype: str, size: str) -> Sample:
    return Sample(f"{count}x{size}", AddN.infer(*[TensorSpec(dtype, (SIZES[size],))] * count))


SAMPLES: Final = [_sample(4, "float32", "1Mi"), _sample(4, "float32", "16Mi"), _sample(4, "bfloat16", "16Mi")]
