"""The edge rules of Iota, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "infinities",
        "iota",
        "an infinite step: NaN at the first place, where it is multiplied by 0",
        ("primitives/iota/-/float32/dense/inf-step",),
    ),
    EdgeRule("overflow", "integers of iota", "wraps modulo 2^n", ("primitives/iota/-/int8/dense/wraps",)),
)
