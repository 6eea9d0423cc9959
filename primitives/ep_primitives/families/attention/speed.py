"""The samples of Attention."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.attention import Attention

__all__ = ["SAMPLES"]


def _sample(dtype: str, *, is_causal: bool) -> Sample:
    spec = TensorSpec(dtype, (1, 12, 256, 64))
    return Sample(
        "12x256x64-causal" if is_causal else "12x256x64", Attention.infer(spec, spec, spec, is_causal=is_causal)
    )


SAMPLES: Final = [
    _sample("float32", is_causal=False),
    _sample("float32", is_causal=True),
    _sample("bfloat16", is_causal=False),
]
