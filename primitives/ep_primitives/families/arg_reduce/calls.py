"""Calls of ArgReduce that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.arg_reduce import ArgReduce

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    ArgReduce,
    "max",
    {"x": F32, "out": TensorSpec("int64", (3,)), "axis": 0},
    {"x": F32, "axis": 0, "keepdims": False, "dtype": "int64"},
    "arg_reduce/max",
)
