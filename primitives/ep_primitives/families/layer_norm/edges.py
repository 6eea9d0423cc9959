"""The edge rules of LayerNorm, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "layer_norm",
        "no y; mean and rstd are NaN",
        ("primitives/layer_norm/-/float32/empty/rows-of-none",),
    ),
    EdgeRule(
        "rows of equal elements",
        "layer_norm",
        "the variance is 0 up to rounding, never below: rstd is 1 / sqrt(epsilon)",
        ("primitives/layer_norm/-/float32/dense/equal", "primitives/layer_norm/-/float32/strided/stride-0-columns"),
    ),
    EdgeRule(
        "NaN",
        "layer_norm",
        "in a row: mean, rstd and all of y are NaN; in scale or bias: its column",
        (
            "primitives/layer_norm/-/float32/dense/special-rows",
            "primitives/layer_norm/-/float32/dense/not-finite-columns",
        ),
    ),
    EdgeRule(
        "infinities",
        "layer_norm",
        "the mean is that infinity, of both NaN; rstd and all of y are NaN",
        (
            "primitives/layer_norm/-/float32/dense/special-rows",
            "primitives/layer_norm/-/float32/dense/special-rows-1024",
        ),
    ),
)
