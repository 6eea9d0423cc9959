"""Where PyTorch gives something else than BatchNorm, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement("any", "error", ("batch_norm",), "Without channels EP has nothing to do; PyTorch raises."),
)
