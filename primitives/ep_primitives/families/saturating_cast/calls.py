"""Calls of SaturatingCast that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.saturating_cast import SaturatingCast

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    SaturatingCast,
    "saturating_cast",
    {"x": F32, "out": TensorSpec("float8_e5m2", (4, 3))},
    {"x": F32, "dtype": "float8_e5m2"},
)
