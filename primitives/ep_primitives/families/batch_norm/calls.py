"""Calls of BatchNorm that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.batch_norm import BatchNorm

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    BatchNorm,
    "batch_norm",
    {"x": F32, "mean": ROW, "variance": ROW, "scale": ROW, "bias": ROW, "y": F32, "axis": -1, "epsilon": 1e-5},
    {"x": F32, "mean": ROW, "variance": ROW, "bias": ROW, "axis": 1, "epsilon": 0.5},
)
