"""Calls of ElementwiseUnary that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import BOOL, F32, Call, both
from ep_primitives.families.elementwise_unary import ElementwiseUnary

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    *both(ElementwiseUnary, "elu", {"x": F32, "out": F32, "alpha": 1.0}, {"x": F32, "alpha": 1.0}),
    *both(ElementwiseUnary, "is_nan", {"x": F32, "out": BOOL}, {"x": F32}),
]
