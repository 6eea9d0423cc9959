"""Calls of Reduce that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.reduce import Reduce

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Reduce,
    "sum",
    {"x": F32, "out": ROW, "axis": (0,)},
    {"x": F32, "axis": (0,), "keepdims": False, "dtype": "float32"},
)
