"""Calls of Copy that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.copy import Copy

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(Copy, "copy", {"x": F32, "out": F32}, {"x": F32})
