"""Calls of TensorFill that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.tensor_fill import TensorFill

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    TensorFill,
    "tensor_fill",
    {"x": TensorSpec("float32", (1,)), "out": F32},
    {"x": TensorSpec("float32", (1,)), "shape": (4, 3)},
)
