"""The edge rules of SaturatingCast, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "NaN", "saturating_cast", "stays NaN", ("primitives/saturating_cast/-/float32->float8_e4m3fn/dense/designed",)
    ),
    EdgeRule(
        "infinities",
        "saturating_cast",
        "the largest number of their sign",
        (
            "primitives/saturating_cast/-/float32->float8_e4m3fn/dense/designed",
            "primitives/saturating_cast/-/float32->float8_e5m2/dense/designed",
        ),
    ),
)
