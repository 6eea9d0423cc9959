"""Where PyTorch gives something else than Scan, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = tuple(
    Disagreement(
        kind,
        "sign of zero",
        ("scan/max", "scan/min"),
        "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and the last one stays.",
    )
    for kind in ("float", "narrow float")
)
