"""A row's promise about its results: exact, within ulps, or within a bound that allows for cancellation; and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "CORRECT",
    "EXACT",
    "INTEGRAL",
    "LISTED",
    "MOVED",
    "NARROW",
    "OF_COMPLEX",
    "OPENCL",
    "REPRESENTABLE",
    "ROUNDED_ONCE",
    "Accuracy",
    "Conditioned",
    "Exact",
    "Ulps",
]


@dataclass(frozen=True, slots=True)
class Exact:
    """The reference rounded once to the output's type, bit for bit; a NaN may have any payload and sign.

    why : the reason; promises with other reasons are equal all the same
    """

    why: str = field(default="", compare=False)

    def __str__(self) -> str:
        return "exact"


@dataclass(frozen=True, slots=True)
class Ulps:
    """At most `n` units in the last place of the output, as Khronos counts them, or at most `floor` absolutely.

    `Ulps(0.5)` is correct rounding. The larger of the two bounds holds.

    why : where the bound comes from
    """

    n: float
    floor: float = 0.0
    why: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.n:g} ulp" + (f" or {self.floor:.2g} absolute" if self.floor else "")


@dataclass(frozen=True, slots=True)
class Conditioned:
    """At most k * eps * S plus half an ulp of the output, where the reference gives S, the sum of |terms|.

    eps is 2**-(stored fraction bits) of the compute type. For composed functions with roots, which no bound in ulps
    fits. It holds where no term underflows: one below the normal numbers of the compute type loses up to half of the
    smallest subnormal one beside it (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 2.8).

    why : where k and S come from
    """

    k: float
    why: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.k:g} eps S"


EXACT: Final = Exact()
"""To compare with; a row's promise has a reason."""

CORRECT: Final = "IEEE 754: correctly rounded"
OPENCL: Final = "OpenCL 1.2, table 7.1, full profile of float32; the same is asked of float64"
OF_COMPLEX: Final = (
    "twice the 4 ulp of real arithmetic and roots, for the exponential and circular functions of the parts"
)
"""Reasons of many bounds."""

INTEGRAL: Final = Exact("integers and truth values are not rounded")
MOVED: Final = Exact("a selection or a copy: nothing is computed")
ROUNDED_ONCE: Final = Exact("one operation, which IEEE 754 rounds correctly")
LISTED: Final = Exact("special values are what the definition says, bit for bit")
REPRESENTABLE: Final = Exact("the data make every partial result representable, so that any order gives the true one")
NARROW: Final = Ulps(1, why="float32's result, rounded once")

Accuracy = Exact | Ulps | Conditioned
