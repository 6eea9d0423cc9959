"""Calls of Fill that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, NUMBER, Call, both
from ep_primitives.families.fill import Fill

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(Fill, "fill", {"value": NUMBER, "out": F32}, {"out": F32})
