"""Calls of Matmul that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.matmul import Matmul

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Matmul,
    "matmul",
    {
        "a": F32,
        "b": TensorSpec("float32", (3, 5)),
        "out": TensorSpec("float32", (4, 5)),
        "bias": TensorSpec("float32", (5,)),
        "conjugate_a": False,
        "activation": "relu",
    },
    {"a": F32, "b": TensorSpec("float32", (3, 5)), "bias": TensorSpec("float32", (5,)), "activation": "none"},
)
