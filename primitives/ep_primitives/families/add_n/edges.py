"""The edge rules of AddN, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "signed zero",
        "add_n",
        "a sum of -0 alone is -0",
        ("primitives/add_n/-/float32/dense/zeros-of-1", "primitives/add_n/-/float32/dense/zeros-of-2"),
    ),
)
