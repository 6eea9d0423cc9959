"""Calls of Pad that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.pad import Pad

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    *both(
        Pad,
        "constant",
        {"x": F32, "out": TensorSpec("float32", (7, 3)), "before": (1, -1), "after": (2, 1)},
        {"x": F32, "before": (1, -1), "after": (2, 1)},
        "pad/constant",
    ),
    *both(
        Pad,
        "reflect",
        {"x": F32, "out": TensorSpec("float32", (7, 4)), "before": (1, 0), "after": (2, 1)},
        {"x": F32, "before": (1, 0), "after": (2, 1)},
        "pad/reflect",
    ),
]
