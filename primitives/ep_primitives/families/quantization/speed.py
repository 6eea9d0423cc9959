"""The samples of Quantize and Dequantize."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample, between
from ep_primitives.families.quantization import Dequantize, Quantize

__all__ = ["SAMPLES"]

_SCALE: Final = TensorSpec("float32", ())
_STEP: Final = {"scale": between(0.02, 0.03)}


def _quantize(size: str) -> Quantize:
    return Quantize.infer(TensorSpec("float32", (SIZES[size],)), _SCALE, dtype="int8")


SAMPLES: Final = [
    Sample("1Mi", _quantize("1Mi"), _STEP, cached=_quantize(CACHED)),
    Sample("1Mi", Dequantize.infer(TensorSpec("int8", (SIZES["1Mi"],)), _SCALE), _STEP),
]
