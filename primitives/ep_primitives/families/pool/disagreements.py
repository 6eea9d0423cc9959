"""Where PyTorch gives something else than Pool, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "float",
        "sign of zero",
        ("pool/max",),
        "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and the first of them stays.",
    ),
    *(
        Disagreement(
            kind,
            "value",
            ("pool/norm_1", "pool/norm_2"),
            "PyTorch takes the mean of the powers times the full window's size, even for a smaller window at a rounded-up end, and keeps the sign of x if p = 1.",
        )
        for kind in ("float", "narrow float")
    ),
)
