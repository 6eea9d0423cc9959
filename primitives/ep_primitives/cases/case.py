"""A case is one descriptor with data to run it on; conformance checks cases and benchmarks time them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ep import Descriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.manner import Manner

__all__ = ["FILLS", "Case", "Fill", "Profile"]

Profile = Literal["quick", "standard", "large"]

Fill = Literal["exact", "designed", "random"]
FILLS: Final[Mapping[Fill, str]] = {
    "exact": "the definition fixes every bit, whatever the order of operations, so that no tolerance hides a fault",
    "designed": "chosen value by value, or to show a fault of one kind",
    "random": "drawn anew for each seed",
}
"""The kinds of data that cases have."""


@dataclass(frozen=True, slots=True)
class Case:
    """One descriptor and the data for it.

    name       : last part of the case id, such as "special-values"
    describe   : the descriptor, or a function that makes it: a list of a hundred thousand names needs no descriptors
    data       : from a seeded generator to a value for each input operand: an array of the logical shape and the
                 element type of its spec, or a number for a Scalar; equal generators give equal data
    inplace    : the input whose memory an output uses, the first that its role shares; None if each has its own
    profile    : the smallest profile that runs the case
    shift      : bytes that every operand's memory view starts after an aligned place, a multiple of the itemsizes
    expected   : the reference of `data` where it comes from a table, as the family's `reference`, which gives it else
    accuracy   : for all outputs in place of the family's accuracy: special values are always `Exact`
    summands   : n, if each element of the outputs is a rounded sum of about n terms of one sign and like sizes, random enough that
                 the errors of right rounding cancel over the outputs: then their mean and their mean square are held to limits,
                 too; else 0
    fill       : a key of FILLS
    starts     : bytes that operands' memory views start after an aligned place, beside `shift`, by name
    manner     : how the case is launched; None leaves that to the case's id
    situation  : the values of the dimensions that the case was constructed from, by name; none for a case made by hand
    since      : the suite version that first held the case, if it is younger than its cell
    vary       : for a constructed case, from a seed to the case with extents and gaps of that seed
    """

    name: str
    describe: Descriptor | Callable[[], Descriptor]
    data: Callable[[np.random.Generator], Mapping[str, Any]]
    inplace: str | None = None
    profile: Profile = "quick"
    shift: int = 0
    expected: Callable[[], Reference] | None = None
    accuracy: Accuracy | None = None
    summands: int = 0
    fill: Fill = "random"
    starts: Mapping[str, int] = field(default_factory=dict)
    manner: Manner | None = None
    situation: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    vary: Callable[[int], Case] | None = None

    @property
    def descriptor(self) -> Descriptor:
        """The computation, made at its first use."""
        described = self.describe
        if not isinstance(described, Descriptor):
            described = described()
            object.__setattr__(self, "describe", described)
        return described

    @property
    def target(self) -> str:
        """The output that uses the memory of `inplace`."""
        roles = self.descriptor.roles
        return roles[roles.names.index(str(self.inplace))].shares[0]

    def seeded(self, seed: int) -> Case:
        """Return the case as a run with this seed tries it: what its name leaves open is drawn anew."""
        return self if self.vary is None else self.vary(seed)

    def late(self) -> Case:
        """Return the case; of profile standard if it is quick."""
        return replace(self, profile="standard") if self.profile == "quick" else self

    def early(self) -> Case:
        """Return the case; of profile quick if it is standard."""
        return replace(self, profile="quick") if self.profile == "standard" else self

    def quick_up_to(self, nbytes: int) -> Case:
        """Return the case; of profile standard if it is quick and moves more bytes."""
        is_late = self.profile == "quick" and self.descriptor.nbytes_moved > nbytes
        return replace(self, profile="standard") if is_late else self
