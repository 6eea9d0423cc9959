"""The edge rules of Convolution, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "windows beyond x",
        "convolution",
        "meet zeros, also where pads are wider than x, or all there is; a window larger than x with its pads is ValueError",
        ("primitives/convolution/-/float32/dense/pads-more-than-x", "primitives/convolution/-/float32/dense/empty-x"),
    ),
    EdgeRule(
        "NaN",
        "convolution",
        "in x: all y whose window has it, of all m of its group; in w or bias: all y of its m; met by a pad: open",
        (
            "primitives/convolution/-/float32/dense/not-finite",
            "primitives/convolution/-/float32/dense/not-finite-weights",
        ),
    ),
)
