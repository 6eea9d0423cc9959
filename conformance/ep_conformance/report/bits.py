"""What a run says of equal bits on another device: how many cases were compared, which differed, and why others were not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ep_conformance.judge.agreement import DIFFERENT, EQUAL
from ep_conformance.plan.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep_conformance.run.verdict import Verdict

__all__ = ["Bits", "bits_lines", "bits_of"]


@dataclass(frozen=True)
class Bits:
    """Numbers of cases.

    other         : the name of the device whose bits were demanded
    equal         : all outputs had its bits
    different     : by family and op, such as "elementwise_unary/exp"
    incomparable  : by the reason that nothing was to compare, the most frequent first
    """

    other: str
    equal: int
    different: Mapping[str, int]
    incomparable: Mapping[str, int]

    @property
    def compared(self) -> int:
        """Cases that ran on both devices."""
        return self.equal + sum(self.different.values())

    def __str__(self) -> str:
        lost, left = sum(self.different.values()), sum(self.incomparable.values())
        return f"bits of {self.other}: {self.equal} equal, {lost} different, {left} not comparable"

    def as_json(self) -> dict[str, Any]:
        """Return it as report.schema.json describes it."""
        return {
            "compared": self.compared,
            "equal": self.equal,
            "different": dict(self.different),
            "incomparable": dict(self.incomparable),
        }


def bits_of(other: str, verdicts: Iterable[Verdict]) -> Bits:
    """Return what the verdicts of a run say of the bits of another device."""
    found, ops = Counter[str](), Counter[str]()
    for verdict in verdicts:
        found[verdict.outcome.bits] += 1
        if verdict.outcome.bits == DIFFERENT:
            place = Place.of(verdict.id)
            ops[f"{place.family}/{place.op}"] += 1
    reasons = {why: count for why, count in found.most_common() if why not in {EQUAL, DIFFERENT, ""}}
    return Bits(other, found[EQUAL], dict(ops.most_common()), reasons)


def bits_lines(bits: Bits | None) -> Iterator[str]:
    """Yield the differences and the reasons as lines for a terminal; the numbers are in the verdict."""
    if bits is None:
        return
    for op, count in bits.different.items():
        yield f"bits of {bits.other} different: {op}, {_cases(count)}"
    for why, count in bits.incomparable.items():
        yield f"bits of {bits.other} not comparable: {why}, {_cases(count)}"


def _cases(number: int) -> str:
    return f"{number} case{'' if number == 1 else 's'}"
