"""The edge rules of Permute, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "permutations",
        "permute",
        "each dimension once, else ValueError; negative ones count from the end",
        ("primitives/permute/-/float32/dense/rank-3-1-2-0", "primitives/permute/-/float32/dense/rank-16-rotation"),
    ),
)
