"""The edge rules of Pad, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "pad",
        "constant: the value everywhere; else nothing",
        ("primitives/pad/constant/float32/dense/empty-x",),
    ),
    EdgeRule(
        "counts of pad",
        "pad: reflect",
        "the border is not repeated: at most the extent less 1, else ValueError",
        ("primitives/pad/reflect/float32/dense/largest", "primitives/pad/reflect/float32/dense/line"),
    ),
    EdgeRule(
        "counts of pad",
        "pad: constant",
        "negative ones crop, also into the value; below no extent is ValueError",
        ("primitives/pad/constant/float32/dense/crop", "primitives/pad/constant/float32/dense/crop-to-border"),
    ),
)
