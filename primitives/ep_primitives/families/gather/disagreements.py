"""Where PyTorch gives something else than Gather, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "any",
        "error",
        ("gather",),
        "An index out of range gives 0 in EP, and an error in validation mode, because no device can raise; PyTorch raises.",
    ),
)
