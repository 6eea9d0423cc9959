"""Failing cases by what they have in common, so that a kernel with one defect is one thing to read and not five hundred."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ep_conformance.judge.outcome import Status
from ep_conformance.plan.place import Place
from ep_conformance.report.columns import SHOWN, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_conformance.run.verdict import Verdict

__all__ = ["Group", "grouped"]


@dataclass
class Group:
    """Verdicts of one status, of one op of a family, or of one area of other cases; in the order of the suite.

    Cases that are missing for one reason are one group, whose family and op are empty: an interrupted run has thousands.
    """

    status: str
    family: str
    op: str
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What they have in common, such as "reduce/sum"."""
        return "/".join(part for part in (self.family, self.op) if part not in {"", "-"}) or "without a verdict"


def grouped(verdicts: Iterable[Verdict]) -> list[Group]:
    """Return the verdicts in groups, worst status first, and of a status the largest group first."""
    found: dict[tuple[str, str, str, str], Group] = {}
    for verdict in verdicts:
        place = Place.of(verdict.id)
        kind, family, op, reason = shown(verdict), place.family, place.op, ""
        if verdict.status is Status.MISSING and (place.is_cell or op):
            family, op, reason = "", "", verdict.outcome.reason
        found.setdefault((kind, family, op, reason), Group(kind, family, op)).verdicts.append(verdict)
    return sorted(found.values(), key=lambda group: (SHOWN.index(group.status), -len(group.verdicts)))
