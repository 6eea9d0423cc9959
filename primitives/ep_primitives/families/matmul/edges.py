"""The edge rules of Matmul, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "matmul",
        "a product over nothing is 0, then beta out",
        ("primitives/matmul/-/float32/dense/depth-0",),
    ),
)
