"""Calls of Cast that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.cast import Cast

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Cast, "cast", {"x": F32, "out": TensorSpec("int8", (4, 3))}, {"x": F32, "dtype": "int8"}
)
