"""The edge rules of OneHot, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing", "one_hot", "no classes are legal", ("primitives/one_hot/-/int64->float32/empty/no-classes",)
    ),
    EdgeRule(
        "index out of range",
        "one_hot",
        "a row of off",
        ("primitives/one_hot/-/int64->float32/dense/edges", "primitives/one_hot/-/int64->float32/dense/first-edges"),
    ),
)
