"""The edge rules of Attention, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "attention",
        "without keys 0; without columns of q and k the mean of the values",
        ("primitives/attention/-/float32/empty/no-keys", "primitives/attention/-/float32/empty/no-depth"),
    ),
    EdgeRule(
        "rows that masks leave nothing",
        "attention",
        "0",
        (
            "primitives/attention/-/float32/dense/causal-4",
            "primitives/attention/-/float32/dense/mask",
            "primitives/attention/-/float32,bool->float32/dense/mask",
        ),
    ),
    EdgeRule(
        "NaN",
        "attention",
        "in q or the mask: its row; in k: every row that meets it; in v: its column",
        ("primitives/attention/-/float32/dense/not-finite", "primitives/attention/-/float32/dense/nan-keys"),
    ),
)
