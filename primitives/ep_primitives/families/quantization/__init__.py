"""The families Dequantize and Quantize."""

from __future__ import annotations

from ep_primitives.families.quantization.dequantize import Dequantize
from ep_primitives.families.quantization.quantize import Quantize

__all__ = ["Dequantize", "Quantize"]
