"""Calls of BroadcastBinary that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import BOOL, F32, NUMBER, ROW, Call, both
from ep_primitives.families.broadcast_binary import BroadcastBinary

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    *both(BroadcastBinary, "add", {"a": F32, "b": ROW, "out": F32}, {"a": F32, "b": ROW}),
    *both(BroadcastBinary, "less_than", {"a": NUMBER, "b": F32, "out": BOOL}, {"a": NUMBER, "b": F32}),
]
