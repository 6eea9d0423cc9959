"""Calls of TopK that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.top_k import TopK

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    TopK,
    "largest",
    {
        "x": F32,
        "values": TensorSpec("float32", (2, 3)),
        "indices": TensorSpec("int64", (2, 3)),
        "axis": 0,
        "sorted": True,
    },
    {"x": F32, "k": 2, "axis": 0, "sorted": False, "indices": TensorSpec("int64", (2, 3))},
    "top_k/largest",
)
