"""Calls of Gather that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, INDICES, Call, both
from ep_primitives.families.gather import Gather

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Gather,
    "gather",
    {"x": F32, "indices": INDICES, "out": TensorSpec("float32", (4, 5)), "axis": 1, "batch_dims": 0},
    {"x": F32, "indices": INDICES, "axis": 1, "batch_dims": 0},
)
