"""Calls of OneHot that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import INDICES, NUMBER, Call, both
from ep_primitives.families.one_hot import OneHot

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    OneHot,
    "one_hot",
    {"indices": INDICES, "on": NUMBER, "off": NUMBER, "out": TensorSpec("float32", (5, 7)), "axis": -1, "first": 2},
    {"indices": INDICES, "dtype": "float32", "classes": 7, "axis": 0, "first": 0},
)
