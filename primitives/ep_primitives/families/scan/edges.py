"""The edge rules of Scan, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing", "scan", "rows without elements stay so", ("primitives/scan/sum/float32/empty/rows-of-none",)
    ),
    EdgeRule(
        "NaN",
        "scan",
        "it and all that follow it in its row are NaN",
        ("primitives/scan/sum/float32/dense/not-finite", "primitives/scan/max/float16/dense/not-finite"),
    ),
    EdgeRule(
        "identity",
        "scan, exclusive",
        "the first element is 0, 1, the lowest or the highest value",
        (
            "primitives/scan/sum/float32/dense/exclusive",
            "primitives/scan/prod/float32/dense/exclusive",
            "primitives/scan/max/int8/dense/exclusive",
            "primitives/scan/min/float32/dense/exclusive",
        ),
    ),
)
