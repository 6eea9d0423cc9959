"""The edge rules of RmsLayerNorm, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "NaN", "rms_layer_norm", "in a row: all of it", ("primitives/rms_layer_norm/-/float32/dense/special-rows",)
    ),
    EdgeRule(
        "infinities",
        "rms_layer_norm",
        "its own y is NaN, the finite elements of its row are 0",
        ("primitives/rms_layer_norm/-/float32/dense/special-rows-1024",),
    ),
)
