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
        "PyTorch rounds what an element of y is given by each weight's place to the narrow type; errors of sums near 0 are as large as they.",
    ),
)
