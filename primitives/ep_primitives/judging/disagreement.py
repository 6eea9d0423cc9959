"""One way in which PyTorch differs from EP, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["NARROW", "ONE_BY_ONE", "Disagreement"]

ONE_BY_ONE: Final = (
    "PyTorch adds one term after another here; EP's bound is that of a tree of pairs, which errs less in long sums."
)
NARROW: Final = "PyTorch rounds steps of the computation to the narrow type; EP computes in float32 and rounds once."


@dataclass(frozen=True)
class Disagreement:
    """One reason, and the ops that it is true of.

    kind : float (float32 and float64), narrow float (float16 and bfloat16), complex, integer, bool, or any of them; of casts,
           from what to what
    how  : found on one side alone: a NaN, an infinity, a zero's sign, another value, or an error; for families also
           "rounding", less than 64 times the bound
    ops  : names of ops, "cast", or names of families, as "reduce/max" where the family has ops
    """

    kind: str
    how: str
    ops: tuple[str, ...]
    reason: str
