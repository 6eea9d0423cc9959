"""Where PyTorch gives something else than OneHot, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "any",
        "error",
        ("one_hot",),
        "An index that is no class gives a row of off in EP, as a tensor of a part of the classes needs it; PyTorch raises.",
    ),
)
