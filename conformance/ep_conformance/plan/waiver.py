"""A Waiver is one entry of waivers.toml for one pattern, and how JSON says it."""

from __future__ import annotations

import datetime as dt
import fnmatch
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.judge.outcome import Status
from ep_conformance.plan.retired import earlier
from ep_conformance.untrusted import text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Waiver", "brief", "brief_of", "waiver_of", "waiver_record"]

_WAIVER: Final = ("cases", "reason", "owner", "link")


@dataclass(frozen=True)
class Waiver:
    """One pattern of an entry of waivers.toml.

    cases    : glob over case ids, whose `*` crosses slashes
    reason   : the defect, in the owner's words
    link     : the address of its issue
    expires  : the last day, UTC, on which it holds
    status   : the status of the cases today; another status is not waived
    when     : features of the devices that it covers
    devices  : glob over their model
    drivers  : glob over their driver
    """

    cases: str
    reason: str
    owner: str
    link: str
    expires: dt.date
    status: Status = Status.FAIL
    when: tuple[str, ...] = ()
    devices: str = "*"
    drivers: str = "*"

    @property
    def id(self) -> str:
        """Its name in a report."""
        return f"waivers/{self.cases}"

    def covers(self, identity: str) -> bool:
        """Say whether a case is one of its cases, by the id that it has, or by one that it had."""
        return any(fnmatch.fnmatchcase(each, self.cases) for each in (identity, *earlier(identity)))

    def is_for(self, device: Mapping[str, Any]) -> bool:
        """Say whether it is for a device with this `model`, `driver` and `features`."""
        return (
            set(self.when) <= set(device["features"])
            and fnmatch.fnmatchcase(device["model"], self.devices)
            and fnmatch.fnmatchcase(device["driver"], self.drivers)
        )

    def days_left(self, today: dt.date) -> int:
        """Return for how many days after today it holds, negative once it has expired."""
        return (self.expires - today).days

    def __str__(self) -> str:
        return f"{self.reason} ({self.owner}, {self.link}, until {self.expires})"


def waiver_record(waiver: Waiver) -> dict[str, Any]:
    """Return all of a waiver as a JSON object; `waiver_of` gives it back."""
    rest = {"status": str(waiver.status), "when": [*waiver.when], "devices": waiver.devices, "drivers": waiver.drivers}
    return brief(waiver) | rest


def waiver_of(table: dict[str, Any]) -> Waiver:
    """Return the waiver of a JSON object that `waiver_record` made. Raises KeyError, TypeError or ValueError for any other."""
    when = tuple(map(text, table["when"]))
    waiver = brief_of(table, Status(table["status"]))
    return replace(waiver, when=when, devices=text(table["devices"]), drivers=text(table["drivers"]))


def brief(waiver: Waiver) -> dict[str, Any]:
    """Return the parts for a reader of the report; the covered devices are in the provider's file alone."""
    return {name: getattr(waiver, name) for name in _WAIVER} | {"expires": waiver.expires.isoformat()}


def brief_of(table: dict[str, Any], status: Status) -> Waiver:
    """Return the waiver of a JSON object that `brief` made. Raises KeyError, TypeError or ValueError for any other."""
    cases, reason, owner, link = (text(table[name]) for name in _WAIVER)
    return Waiver(cases, reason, owner, link, dt.date.fromisoformat(table["expires"]), status)
