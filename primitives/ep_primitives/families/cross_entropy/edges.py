"""The edge rules of CrossEntropy, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "cross_entropy",
        "a sum of no labels is 0, a mean NaN",
        (
            "primitives/cross_entropy/-/float32,int64->float32/empty/no-samples-sum",
            "primitives/cross_entropy/-/float32,int64->float32/empty/no-samples-mean",
        ),
    ),
    EdgeRule(
        "NaN",
        "cross_entropy",
        "in a row that counts: its loss; where a label does not count it does not show",
        (
            "primitives/cross_entropy/-/float32,int64->float32/dense/none-ignore-1",
            "primitives/cross_entropy/-/float32,int64->float32/dense/sum-ignore+4",
        ),
    ),
    EdgeRule(
        "index out of range",
        "cross_entropy",
        "the label does not count",
        (
            "primitives/cross_entropy/-/float32,int64->float32/dense/sum-no-class",
            "primitives/cross_entropy/-/float32,int64->float32/dense/mean-no-class",
        ),
    ),
)
