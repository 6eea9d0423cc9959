"""Calls of RmsLayerNorm that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.rms_layer_norm import RmsLayerNorm

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    RmsLayerNorm,
    "rms_layer_norm",
    {"x": F32, "scale": ROW, "y": F32, "axis": -1, "epsilon": 1e-5},
    {"x": F32, "scale": F32, "axis": 0, "epsilon": 0.5},
)
