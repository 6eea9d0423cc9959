"""The edge rules of Cast, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "NaN",
        "cast",
        "0 as an integer, true as a bool",
        ("primitives/cast/-/float32->int8/dense/designed", "primitives/cast/-/float32->bool/dense/designed"),
    ),
)
