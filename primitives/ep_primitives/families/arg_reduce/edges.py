"""The edge rules of ArgReduce, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "arg_reduce",
        "ValueError when it is described, unless there are no rows either",
        ("primitives/arg_reduce/max/float32->int64/empty/no-rows-of-none",),
    ),
    EdgeRule(
        "NaN",
        "arg_reduce",
        "the first NaN wins, over infinities too",
        ("primitives/arg_reduce/max/float32->int64/dense/nan",),
    ),
    EdgeRule(
        "ties",
        "arg_reduce",
        "the first of equals wins; -0 equals +0",
        (
            "primitives/arg_reduce/max/float32->int64/dense/ties",
            "primitives/arg_reduce/max/float32->int64/dense/equal",
            "primitives/arg_reduce/max/float32->int64/dense/signed-zeros",
        ),
    ),
)
