"""Where PyTorch gives something else than Reduce, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import ONE_BY_ONE, Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "any",
        "error",
        ("reduce/max", "reduce/min", "reduce/norm_inf"),
        "Of nothing EP gives the identity: the type's lowest or highest value, and norm 0; PyTorch raises.",
    ),
    *(
        Disagreement(
            kind,
            "sign of zero",
            ("reduce/max", "reduce/min"),
            "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and any of them stays.",
        )
        for kind in ("float", "narrow float")
    ),
    *(Disagreement(kind, "rounding", ("reduce/norm_1", "reduce/norm_2"), ONE_BY_ONE) for kind in ("float", "complex")),
    *(
        Disagreement(kind, how, ("reduce/norm_2",), reason)
        for kind in ("float", "narrow float", "complex")
        for how, reason in (
            ("infinity", "PyTorch's squares overflow although the norm is in range; EP scales such rows."),
            ("value", "The squares of tiny numbers vanish in PyTorch, so that their norm is 0; EP scales such rows."),
        )
    ),
    Disagreement(
        "narrow float",
        "rounding",
        ("reduce/norm_2",),
        "PyTorch's squares of tiny numbers are subnormal and have few digits left; EP scales such rows.",
    ),
)
