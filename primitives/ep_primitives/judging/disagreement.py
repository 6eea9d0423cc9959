"""One way in which PyTorch differs from EP, and why."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Disagreement"]


@dataclass(frozen=True)
class Disagreement:
    """One reason, and the ops that it is true of.

    kind : float (float32 and float64), narrow float (float16 and bfloat16), complex, integer, bool, or any of them; of casts,
           from what to what
    how  : what is on one side alone: a NaN, an infinity, a zero's sign, another value, or an error; of families also
           "rounding", less than 64 times the bound
    ops  : names of ops, "cast", or names of families, as "reduce/max" where the family has ops
    """

    kind: str
    how: str
    ops: tuple[str, ...]
    reason: str
