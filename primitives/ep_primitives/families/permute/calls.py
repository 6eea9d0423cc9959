"""Calls of Permute that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.permute import Permute

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Permute,
    "permute",
    {"x": F32, "out": TensorSpec("float32", (3, 4)), "permutation": (1, 0)},
    {"x": F32, "permutation": (1, 0)},
)
