"""The edge rules of Pool, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "windows beyond x",
        "pool",
        "see no element there: an average divides by those of x, with counts_pads by pads, too, never by what is behind the pads",
        (
            "primitives/pool/max/float32/dense/below-zero",
            "primitives/pool/average/float32/dense/image",
            "primitives/pool/average/float32/dense/pads-count-ceil",
        ),
    ),
    EdgeRule(
        "windows of no element",
        "pool",
        "max: -inf, of integers the lowest; average NaN; norms 0",
        ("primitives/pool/max/int8/dense/pads-more-than-x", "primitives/pool/average/float32/dense/pads-more-than-x"),
    ),
    EdgeRule("NaN", "pool", "in a window: its y is NaN", ("primitives/pool/max/float32/dense/not-finite",)),
)
