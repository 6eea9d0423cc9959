"""Calls of RandomFill that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import Scalar
from ep_primitives.cases.call import BOOL, F32, Call, both
from ep_primitives.families.random_fill import RandomFill

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    *both(RandomFill, "normal", {"out": F32}, {"out": F32}),
    *both(RandomFill, "bernoulli", {"out": BOOL, "p": Scalar("float64")}, {"out": BOOL}),
]
