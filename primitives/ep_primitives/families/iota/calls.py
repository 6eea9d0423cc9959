"""Calls of Iota that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, NUMBER, Call, both
from ep_primitives.families.iota import Iota

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Iota, "iota", {"start": NUMBER, "step": NUMBER, "out": F32, "axis": 0}, {"out": F32, "axis": -1}
)
