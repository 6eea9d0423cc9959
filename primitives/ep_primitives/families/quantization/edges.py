"""The edge rules of Dequantize and Quantize, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "NaN",
        "quantize",
        "0",
        (
            "primitives/quantize/-/float32->int8/dense/special",
            "primitives/quantize/-/float32->int8/dense/special-no-zero-point",
        ),
    ),
    EdgeRule(
        "ties in rounding",
        "quantize",
        "to even",
        (
            "primitives/quantize/-/float32->int8/dense/ties",
            "primitives/quantize/-/float32->int8/dense/ties-no-zero-point",
        ),
    ),
    EdgeRule(
        "counts of bits",
        "quantize",
        "saturates",
        ("primitives/quantize/-/float32->int8/dense/tensor", "primitives/quantize/-/float32->int8/dense/blocks"),
    ),
)
