"""A Planned is a case of the plan, with its standing: whether it is expected, and why it does not run."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ep_conformance.plan.waiver import Waiver

__all__ = ["UNTRIED", "Planned", "Standing"]

UNTRIED: Final = "late errors: untried"
"""The first words of the reason why a case of late errors cannot run on a device that injects no faults."""


class Standing(enum.StrEnum):
    """Why a case is in the plan.

    EXPECTED   : claimed, or mandatory: it must give a verdict, and pass
    UNCLAIMED  : accepted by the provider without a claim: it runs and gives a notice
    REFUSED    : neither claimed nor accepted, or left out by --claimed-only: it does not run
    STALE      : a claim whose pattern matches no case of the suite, or a waiver that waives nothing or has expired
    NEW        : claimed by a pattern, but newer than the suite that the claims name: it runs and never counts
    """

    EXPECTED = "expected"
    UNCLAIMED = "unclaimed"
    REFUSED = "refused"
    STALE = "stale"
    NEW = "new"


@dataclass(frozen=True)
class Planned:
    """A case of the plan.

    reason  : why it does not run
    waiver  : the provider's waiver of its failure, if one covers this device
    others  : further waivers that cover it, perhaps for another status
    """

    id: str
    standing: Standing
    reason: str = ""
    waiver: Waiver | None = None
    others: tuple[Waiver, ...] = ()

    @property
    def runs(self) -> bool:
        """True unless its verdict is known from its standing."""
        return self.standing not in {Standing.REFUSED, Standing.STALE}
