"""The edge rules of LogSoftmax, LogSoftmaxBackward, Softmax and SoftmaxBackward, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "rows of nothing",
        "softmax and its kin",
        "rows without elements stay so",
        ("primitives/softmax/-/float32/empty/rows-of-none",),
    ),
    EdgeRule("NaN", "softmaxes", "the whole row is NaN", ("primitives/softmax/-/float32/dense/special-rows",)),
    EdgeRule(
        "softmax rows",
        "softmax, log_softmax",
        "with +inf, or of -inf alone: all NaN",
        ("primitives/softmax/-/float32/dense/special-rows", "primitives/log_softmax/-/float32/dense/special-rows"),
    ),
    EdgeRule(
        "softmax rows",
        "softmax; log_softmax",
        "-inf among finite ones: 0; -inf",
        ("primitives/softmax/-/float32/dense/special-rows", "primitives/log_softmax/-/float32/dense/special-rows"),
    ),
)
