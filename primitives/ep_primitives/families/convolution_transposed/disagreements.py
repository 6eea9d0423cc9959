"""Where PyTorch gives something else than ConvolutionTransposed, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "narrow float",
        "value",
        ("convolution_transposed",),
        "PyTorch rounds the partial sum of each weight's place to the narrow type, so that sums near 0 have errors of their own size.",
    ),
)
