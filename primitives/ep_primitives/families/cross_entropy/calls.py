"""Calls of CrossEntropy that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.cross_entropy import CrossEntropy

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    CrossEntropy,
    "cross_entropy",
    {
        "x": F32,
        "labels": TensorSpec("int64", (4,)),
        "weights": ROW,
        "out": TensorSpec("float32", (4,)),
        "reduction": "none",
        "ignore_index": -1,
        "is_log": True,
    },
    {"x": F32, "labels": TensorSpec("int32", (4,)), "reduction": "none", "is_log": False},
)
