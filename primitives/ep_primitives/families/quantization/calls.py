"""Calls of Dequantize, Quantize that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.quantization import Dequantize, Quantize

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    *both(
        Quantize,
        "quantize",
        {
            "x": F32,
            "scale": TensorSpec("float32", (4, 2)),
            "zero_point": TensorSpec("int8", (4, 2)),
            "out": TensorSpec("int8", (4, 3)),
            "axis": -1,
            "block": 2,
        },
        {"x": F32, "scale": ROW, "zero_point": TensorSpec("uint16", (3,)), "dtype": "uint16"},
    ),
    *both(
        Dequantize,
        "dequantize",
        {
            "x": TensorSpec("int8", (4, 3)),
            "scale": TensorSpec("float32", (2, 3)),
            "zero_point": TensorSpec("int8", (2, 3)),
            "out": F32,
            "axis": 0,
            "block": 2,
        },
        {"x": TensorSpec("int32", (4, 3)), "scale": ROW},
    ),
]
