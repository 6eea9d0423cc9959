"""Where PyTorch gives something else than GroupNorm, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    *(
        Disagreement(
            kind,
            how,
            ("group_norm",),
            "PyTorch folds mean, root, scale and bias into two numbers of a channel, whose difference loses digits, and is NaN for an infinite scale.",
        )
        for kind in ("float", "narrow float")
        for how in ("NaN there", "value")
    ),
)
