"""The edge rules of Reduce, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "reduce: sum, sum_of_squares, norms",
        "0",
        ("primitives/reduce/sum/float32/empty/no-terms", "primitives/reduce/norm_inf/float32/empty/no-terms"),
    ),
    EdgeRule("rows of nothing", "reduce: prod", "1", ("primitives/reduce/prod/float32/empty/no-terms",)),
    EdgeRule("rows of nothing", "reduce: mean", "NaN", ("primitives/reduce/mean/float32/empty/no-terms",)),
    EdgeRule(
        "rows of nothing",
        "reduce: max, log_sum_exp",
        "-inf; of integers the lowest, of bool false",
        ("primitives/reduce/max/float32/empty/no-terms", "primitives/reduce/max/int8/empty/no-terms"),
    ),
    EdgeRule(
        "rows of nothing",
        "reduce: min",
        "+inf; of integers the highest, of bool true",
        ("primitives/reduce/min/float32/empty/no-terms", "primitives/reduce/min/int8/empty/no-terms"),
    ),
    EdgeRule(
        "rows of nothing",
        "reduce: any; all",
        "false; true",
        ("primitives/reduce/any/float32->bool/empty/no-terms", "primitives/reduce/all/float32->bool/empty/no-terms"),
    ),
    EdgeRule(
        "NaN",
        "reduce, add_n",
        "a NaN anywhere in a row gives NaN (any: true; all: it counts as true)",
        ("primitives/reduce/max/float32/dense/not-finite", "primitives/reduce/all/float32->bool/dense/rows"),
    ),
    EdgeRule(
        "infinities",
        "log_sum_exp",
        "+inf gives +inf; -inf alone gives -inf",
        ("primitives/reduce/log_sum_exp/float32/dense/not-finite",),
    ),
    EdgeRule(
        "signed zero",
        "reduce: max, min",
        "max(-0, +0) is +0, min is -0",
        ("primitives/reduce/max/float32/dense/signed-zeros", "primitives/reduce/min/float32/dense/signed-zeros"),
    ),
)
