"""What a row promises about its results: exact, within ulps, or within a bound that knows about cancellation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["EXACT", "Accuracy", "Conditioned", "Exact", "Ulps"]


@dataclass(frozen=True, slots=True)
class Exact:
    """The reference rounded once to the output's type, bit for bit; a NaN may have any payload and sign."""

    def __str__(self) -> str:
        return "exact"


@dataclass(frozen=True, slots=True)
class Ulps:
    """At most `n` units in the last place of the output, as Khronos counts them, or at most `floor` absolutely.

    `Ulps(0.5)` is correct rounding. The larger of the two bounds holds.
    """

    n: float
    floor: float = 0.0

    def __str__(self) -> str:
        return f"{self.n:g} ulp" + (f" or {self.floor:.2g} absolute" if self.floor else "")


@dataclass(frozen=True, slots=True)
class Conditioned:
    """At most k * eps * S plus half an ulp of the output, where the reference gives S, the sum of |terms|.

    eps is 2**-(stored fraction bits) of the compute type. For composed functions with roots, which no bound in ulps
    fits.
    """

    k: float

    def __str__(self) -> str:
        return f"{self.k:g} eps S"


EXACT: Final = Exact()

Accuracy = Exact | Ulps | Conditioned
