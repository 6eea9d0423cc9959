"""Where PyTorch gives something else than LogSoftmax, LogSoftmaxBackward, Softmax and SoftmaxBackward, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import ONE_BY_ONE, Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "float",
        "rounding",
        ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"),
        ONE_BY_ONE,
    ),
)
