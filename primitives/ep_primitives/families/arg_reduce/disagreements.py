"""Where PyTorch gives something else than ArgReduce, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "any",
        "error",
        ("arg_reduce/max", "arg_reduce/min"),
        "An output without elements has no extremes to find, so an empty axis does no harm; PyTorch raises all the same.",
    ),
)
