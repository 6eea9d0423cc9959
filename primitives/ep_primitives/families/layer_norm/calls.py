"""Calls of LayerNorm that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.layer_norm import LayerNorm

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    LayerNorm,
    "layer_norm",
    {
        "x": F32,
        "scale": ROW,
        "bias": ROW,
        "y": F32,
        "mean": TensorSpec("float32", (4, 1)),
        "rstd": TensorSpec("float32", (4,)),
        "axis": -1,
        "epsilon": 1e-5,
    },
    {
        "x": F32,
        "scale": ROW,
        "bias": ROW,
        "axis": 1,
        "epsilon": 0.5,
        "mean": True,
        "rstd": TensorSpec("float32", (4,)),
    },
)
