"""Calls of Where that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import BOOL, F32, NUMBER, Call, both
from ep_primitives.families.where import Where

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Where,
    "where",
    {"condition": BOOL, "a": F32, "b": NUMBER, "out": F32},
    {"condition": BOOL, "a": F32, "b": NUMBER},
)
