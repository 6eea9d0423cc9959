"""Calls of Scan that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.scan import Scan

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Scan,
    "sum",
    {"x": F32, "out": F32, "axis": 0, "exclusive": True, "reverse": False},
    {"x": F32, "axis": 0, "exclusive": False, "reverse": True},
    "scan/sum",
)
