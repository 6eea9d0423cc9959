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
            "PyTorch sums powers of x, with p = 1 of its sign, too, as a mean times the size of a window, also where one that is rounded up has less.",
        )
        for kind in ("float", "narrow float")
    ),
)
