"""The edge rules of ConvolutionTransposed, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "convolution_transposed",
        "to which x gives nothing: the bias",
        ("primitives/convolution_transposed/-/float32/dense/extra",),
    ),
)
