"""Calls of GroupNorm that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, ROW, Call, both
from ep_primitives.families.group_norm import GroupNorm

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    GroupNorm,
    "group_norm",
    {"x": F32, "scale": ROW, "bias": ROW, "y": F32, "groups": 3, "epsilon": 1e-5},
    {"x": F32, "groups": 1, "scale": ROW, "epsilon": 0.5},
)
