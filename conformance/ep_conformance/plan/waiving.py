"""Put waivers on a plan: find the entry that waives each case, and entries that waive nothing any more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ep_conformance.plan.planned import Planned, Standing

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ep_conformance.plan.waiver import Waiver

__all__ = ["expiring", "idle", "waived"]

_SOON: Final = 30
"""Days before its end from which on a run mentions a waiver."""


def waived(plan: Iterable[Planned], waivers: Sequence[Waiver], today: dt.date) -> Iterator[Planned]:
    """Yield the plan, each case with the waivers that cover it and have not expired, the first one before the others."""
    valid = [waiver for waiver in waivers if waiver.days_left(today) >= 0]
    for planned in plan:
        found = [each for each in valid if each.covers(planned.id)]
        yield replace(planned, waiver=found[0], others=tuple(found[1:])) if found and planned.runs else planned


def idle(
    plan: Sequence[Planned], waivers: Sequence[Waiver], today: dt.date, expected: Callable[[str], Iterable[Planned]]
) -> Iterator[Planned]:
    """Yield a failure for each waiver that has expired or covers no expected case of the device.

    plan      : of the run, perhaps with only a few of the cases
    expected  : maps a glob to all cases of any profile that are expected of the device
    """
    judged = [planned.id for planned in plan if planned.standing is Standing.EXPECTED]
    for waiver in waivers:
        if waiver.days_left(today) < 0:
            advice = "repair the defect, or have the owner renew the waiver"
            reason = f"waivers.toml waives {waiver.cases!r} until {waiver.expires}, which is over: {waiver}; {advice}"
            yield Planned(waiver.id, Standing.STALE, reason)
        elif not any(map(waiver.covers, judged)) and not any(True for _ in expected(waiver.cases)):
            reason = f"waivers.toml waives {waiver.cases!r}, which no case that is expected of this device matches; mend it or remove it"
            yield Planned(waiver.id, Standing.STALE, reason)


def expiring(waivers: Iterable[Waiver], today: dt.date) -> tuple[Waiver, ...]:
    """Return the waivers that hold today and end within a month."""
    return tuple(waiver for waiver in waivers if 0 <= waiver.days_left(today) <= _SOON)
