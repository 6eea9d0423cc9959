"""The edge rules of TopK, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "top_k",
        "k can only be 0, which is legal for all rows",
        (
            "primitives/top_k/largest/float32->float32,int64/empty/none-of-none",
            "primitives/top_k/largest/float32->float32,int64/empty/none-of-5",
        ),
    ),
    EdgeRule(
        "NaN",
        "top_k",
        "the largest number, of any sign and payload",
        (
            "primitives/top_k/largest/float32->float32,int64/dense/nan",
            "primitives/top_k/smallest/float16->float16,int64/dense/nan",
        ),
    ),
    EdgeRule(
        "ties",
        "top_k",
        "the first of equals is chosen, and comes first; -0 equals +0, and each keeps its sign",
        (
            "primitives/top_k/largest/float32->float32,int64/dense/ties",
            "primitives/top_k/largest/float32->float32,int64/dense/ties-unsorted",
            "primitives/top_k/largest/float32->float32,int64/dense/signed-zeros",
        ),
    ),
    EdgeRule(
        "order",
        "top_k",
        "sorted: the best first; else as they stand in the row",
        (
            "primitives/top_k/largest/float32->float32,int64/dense/rows",
            "primitives/top_k/largest/float32->float32,int64/dense/unsorted",
        ),
    ),
)
