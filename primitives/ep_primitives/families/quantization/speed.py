"""The samples of Quantize and Dequantize."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample, between
from ep_primitives.families.quantization import Dequantize, Quantize

__all__ = ["SAMPLES"]

_SCALE: Final = TensorSpec("float32", ())
_STEP: Final = {"scale": between(0.02, 0.03)}

SAMPLES: Final = [
    Sample("1Mi", Quantize.infer(TensorSpec("float32", (SIZES["1Mi"],)), _SCALE, dtype="int8"), _STEP),
    Sample("1Mi", Dequantize.infer(TensorSpec("int8", (SIZES["1Mi"],)), _SCALE), _STEP),
]
