"""The edge rules of Gather, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "gather",
        "every index is out of range",
        ("primitives/gather/-/float32,int64->float32/dense/extent-0",),
    ),
    EdgeRule(
        "index out of range",
        "gather",
        "0, and nothing is read; negative ones do not count from the end",
        (
            "primitives/gather/-/float32,int64->float32/dense/edges",
            "primitives/gather/-/float32,int64->float32/rank0/out-of-range",
        ),
    ),
)
