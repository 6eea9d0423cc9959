"""Where PyTorch gives something else than LayerNorm, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

_APART: Final = (
    "PyTorch subtracts the product of mean and rstd from that of x and rstd; EP subtracts the mean from x first."
)
_STATISTICS: Final = (
    "PyTorch's mean and rstd have the type of x, and its y is the difference of two products; EP's are float32."
)

DISAGREEMENTS: Final = (
    *(Disagreement("float", how, ("layer_norm",), _APART) for how in ("value", "rounding")),
    *(Disagreement("narrow float", how, ("layer_norm",), _STATISTICS) for how in ("value", "rounding")),
    Disagreement("narrow float", "sign of zero", ("layer_norm",), _APART),
    *(
        Disagreement(kind, how, ("layer_norm",), reason)
        for kind in ("float", "narrow float")
        for how, reason in (
            (
                "NaN there",
                "PyTorch updates means by differences: with infinities of one sign in a row its mean is NaN, EP's infinite.",
            ),
            ("NaN here", "A row of nothing has no mean: EP's is NaN, PyTorch's 0."),
        )
    ),
    Disagreement("any", "error", ("layer_norm",), "PyTorch refuses rows of rank 0; EP's have one element."),
)
