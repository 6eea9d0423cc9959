"""An Outcome is the result of running a case, independent of its standing."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ATTESTATIONS", "DEATHS", "FAILING", "Outcome", "Status"]


class Status(enum.StrEnum):
    """The closed set of verdicts."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    MISSING = "missing"
    CRASH = "crash"
    HANG = "hang"
    DEVICE_LOST = "device-lost"
    UNEXPECTED_PASS = "unexpected-pass"  # noqa: S105 - a verdict, not a password
    MISTRUSTED = "mistrusted"
    FLAKY = "flaky"
    NEW = "new"

    @property
    def key(self) -> str:
        """The name in the report's summary."""
        return self.value.replace("-", "_")


DEATHS: Final = frozenset({Status.CRASH, Status.HANG, Status.DEVICE_LOST})
"""The statuses that a worker process does not survive."""

FAILING: Final = frozenset(Status) - {Status.PASS, Status.UNSUPPORTED, Status.NEW}
"""What makes a run fail."""

ATTESTATIONS: Final = ("no", "attested", "native")
"""The evidence for a result, from none to the strongest."""


@dataclass(frozen=True)
class Outcome:
    """The result of running a case, independent of its standing.

    margin    : largest error over its bound, None where the accuracy is exact
    attested  : "no", "attested" (device, implementation and provider match) or "native" (driver calls counted, too)
    degraded  : the abilities that a default of EP served in place of the provider
    error     : the error of `margin` in ulps of the output
    at        : the operands of the element with that error, as text
    bias      : |mean error| over its limit, None but for cases with summands
    variance  : the mean square of the errors over its limit, None but for cases with summands
    bits      : what comparing with another device gave: "equal", "different", or why nothing was to compare; "" if not asked
    ran       : names of the implementations that ran, of a lowered descriptor those of its stages
    details   : facts about a failure beside its reason, for a replay file; JSON values only
    """

    status: Status
    reason: str = ""
    margin: float | None = None
    attested: str = "no"
    degraded: tuple[str, ...] = ()
    seconds: float = 0.0
    error: float | None = None
    at: str = ""
    bias: float | None = None
    variance: float | None = None
    bits: str = ""
    ran: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
