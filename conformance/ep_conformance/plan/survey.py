"""Look at a device once and plan its run: which cases are expected of it, which are not claimed, which it refuses."""

from __future__ import annotations

import datetime as dt
import fnmatch
import functools
import itertools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ep.layout.cells import matches
from ep.plugin.capabilities import ability, how
from ep.plugin.claims import Claims, parse_version, read_claims

import ep
from ep_conformance import SUITE
from ep_conformance.collective import MOST_RANKS, collective_cases, ranks_of
from ep_conformance.fixture.kernel import find_kernel, has_cell
from ep_conformance.plan.catalogue import (
    cell_cases,
    cells,
    is_within,
    may_begin,
    may_select,
    named_cases,
    profile_of,
    selects,
)
from ep_conformance.plan.contributed import case_packages
from ep_conformance.plan.planned import UNTRIED, Planned, Standing
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.plan.retired import renewed
from ep_conformance.plan.subject import Subject
from ep_conformance.plan.turns import in_turn
from ep_conformance.plan.waiver import waiver_of, waiver_record
from ep_conformance.plan.waivers import read_waivers
from ep_conformance.plan.waiving import expiring, idle, waived
from ep_conformance.runtime import runtime_cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ep_primitives.cases.case import Case

    from ep_conformance.plan.sweep import Sweep
    from ep_conformance.plan.waiver import Waiver
    from ep_conformance.runtime import RuntimeCase

__all__ = ["Survey", "survey", "survey_of"]


@dataclass(frozen=True)
class Survey:
    """The plan of a run.

    subject     : the device to judge
    plan        : every case of the profile, with its standing
    is_on_host  : True if the device computes on this machine's own cores
    expiring    : waivers that hold for less than a month from today on
    other       : the info of the device whose bits results are compared with, as `Subject.device`; None for none
    """

    subject: Subject
    plan: tuple[Planned, ...]
    is_on_host: bool
    expiring: tuple[Waiver, ...] = ()
    other: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; `survey_of` gives it back. Neighbouring cases with equal standing share one entry."""
        waivers = [*dict.fromkeys([*self.expiring, *(p.waiver for p in self.plan if p.waiver is not None)])]
        places = {waiver: place for place, waiver in enumerate(waivers)}
        return {
            "subject": [self.subject.provider, self.subject.version, self.subject.device],
            "is_on_host": self.is_on_host,
            "other": self.other,
            "waivers": [*map(waiver_record, waivers)],
            "expiring": [places[waiver] for waiver in self.expiring],
            "plan": [
                [str(standing), reason, None if waiver is None else places[waiver], [planned.id for planned in group]]
                for (standing, reason, waiver), group in itertools.groupby(
                    self.plan, lambda planned: (planned.standing, planned.reason, planned.waiver)
                )
            ],
        }


def survey_of(table: dict[str, Any]) -> Survey:
    """Return the survey of a JSON object that `Survey.as_json` made.

    Raises LookupError, TypeError or ValueError for any other.
    """
    provider, version, device = table["subject"]
    waivers = [*map(waiver_of, table["waivers"])]
    plan = tuple(
        Planned(str(identity), Standing(standing), str(reason), None if place is None else waivers[place])
        for standing, reason, place, identities in table["plan"]
        for identity in identities
    )
    expiring = tuple(waivers[place] for place in table["expiring"])
    subject, other = Subject(str(provider), str(version), dict(device)), table["other"]
    return Survey(subject, plan, table["is_on_host"] is True, expiring, None if other is None else dict(other))


def survey(  # noqa: PLR0913 - the device, what to run on it, and what is known beside it
    device: ep.Device,
    profile: str,
    pattern: str | None,
    waivers: Path | None = None,
    today: dt.date | None = None,
    *,
    every: int = 1,
    other: ep.Device | None = None,
) -> Survey:
    """Return the plan for a device. Compiles nothing.

    waivers : a file that takes the place of the waivers.toml beside the provider's claims.toml
    today   : the day that expiry is measured against; None is the day it is, UTC
    every   : of each op only every Nth element type, see `in_turn`
    other   : the device whose bits results are compared with

    Raises ClaimsError for a claims.toml that cannot be used, WaiversError for such waivers.
    """
    claims = read_claims(device.provider.manifest.claims)
    entries = read_waivers(waivers or device.provider.manifest.path.with_name("waivers.toml"))
    registration = ep.providers()[device.provider.name]
    subject = Subject(device.provider.name, registration.version, _info(device))
    mine = [entry for entry in entries if entry.is_for(subject.device)]
    day = today or dt.datetime.now(dt.UTC).date()
    plan = [*_cases(device, claims, profile, pattern, every)]
    claimed = _stale(claims) if may_begin(pattern, "claims/") else ()
    stale = itertools.chain(claimed, idle(plan, mine, day, functools.partial(_expected, device, claims)))
    return Survey(
        subject,
        (*(planned for planned in stale if selects(pattern, planned.id)), *waived(plan, mine, day)),
        bool({"cpu", "host-memory"} & device.info.features),
        expiring(mine, day),
        None if other is None else _info(other),
    )


def _expected(device: ep.Device, claims: Claims, pattern: str) -> Iterator[Planned]:
    """Yield the cases of any profile that a glob selects and that are expected of the device."""
    cases = _cases(device, claims, PROFILES[-1], renewed(pattern))
    ranks = () if ranks_of(pattern) else range(1, MOST_RANKS + 1)
    collectives = (_collective(device, each, pattern) for each in ranks if may_begin(pattern, f"collective/{each}/"))
    every = itertools.chain(cases, itertools.chain.from_iterable(collectives))
    return (each for each in every if each.standing is Standing.EXPECTED)


def _cases(device: ep.Device, claims: Claims, profile: str, pattern: str | None, every: int = 1) -> Iterator[Planned]:
    """Yield the cases that a glob selects; those of the runtime are not even imported where it selects none."""
    primitives = functools.partial(_primitives, every=every)
    if ranks := ranks_of(pattern or ""):
        yield from _collective(device, ranks, pattern)
        return
    for start, find in (("runtime/", _runtime), ("vendor/", _vendor), ("primitives/", primitives)):
        if may_begin(pattern, start):
            yield from find(device, claims, profile, pattern)


def _stale(claims: Claims) -> Iterator[Planned]:
    """Yield the claims that match nothing: their vendor believes cells to be judged that are not."""
    if parse_version(claims.suite) > parse_version(SUITE):
        return  # they may name what only the newer suite has
    names = [str(cell) for _, cell in cells()] + [*named_cases()]
    broken = {package.hook_id: package.fault for package in case_packages() if package.fault}
    for cells_of in dict.fromkeys(claim.cells for claim in claims.stale(names)):
        family = cells_of.partition("/")[0]
        known = {*ep.families(), "runtime", "vendor"}
        what = "no case of the suite; mend it or remove it"
        if not any(fnmatch.fnmatchcase(name, family) for name in known):
            what = f"no installed family: install the package that brings {family!r}, or mend it; ep doctor names broken ones"
        for identity, fault in broken.items():
            if matches(cells_of, identity):
                what = f"nothing, because they are broken: {fault}"
        reason = f"claims.toml claims {cells_of!r}, which matches {what}"
        yield Planned(f"claims/{cells_of}", Standing.STALE, reason)


def _runtime(device: ep.Device, claims: Claims, profile: str, pattern: str | None) -> Iterator[Planned]:
    for case in runtime_cases().values():
        if not is_within(case.profile, profile) or not selects(pattern, case.id):
            continue
        if lack := _lack(device, case):
            yield Planned(case.id, Standing.REFUSED, lack)
        elif claims.is_new(case.since):
            yield Planned(case.id, Standing.NEW)
        elif not case.optional or claims.covers(case.id, case.since, device.info.features):
            yield Planned(case.id, Standing.EXPECTED)
        else:
            yield Planned(case.id, Standing.UNCLAIMED)


def _collective(device: ep.Device, ranks: int, pattern: str | None) -> Iterator[Planned]:
    """Yield the cases of so many ranks: all are expected of whoever is asked, as far as the device has the kernels."""
    for case in collective_cases(ranks).values():
        if selects(pattern, case.id):
            lack = _lack(device, case)
            yield Planned(case.id, Standing.REFUSED if lack else Standing.EXPECTED, lack)


def _lack(device: ep.Device, case: RuntimeCase) -> str:
    """Return the first need of a case that the device does not meet, in words; "" if it meets all."""
    if case.asks == "fork" and not hasattr(os, "fork"):
        return "this system has no fork"
    if case.asks == "devices" and len(device.provider.devices()) == 1:
        return "the provider has one device"
    if case.asks == "call" and ability(device, "call") != "native":
        return "the device calls no host function that could hold a stream back"
    if case.asks == "faults" and ability(device, "late-errors") != "native":
        return f"{UNTRIED}: the device injects no faults"
    if case.asks == "faults" and ability(device, "async") != "native":
        return f"{UNTRIED}: its streams are synchronous, so that no error is late"
    if case.kernels and find_kernel(device) is None:
        return "the provider has no kernel of one dense float32 tensor"
    if case.needs and not has_cell(device, case.needs):
        return f"the provider has no {case.needs}"
    return ""


def _vendor(device: ep.Device, claims: Claims, profile: str, pattern: str | None) -> Iterator[Planned]:
    """Yield the cases that vendors bring: they count where they are claimed, and run where the provider itself brings them."""
    mine = ep.providers()[device.provider.name].distribution
    for package in case_packages():
        is_mine = package.distribution == mine
        if package.fault and selects(pattern, package.hook_id):
            yield Planned(package.hook_id, Standing.STALE if is_mine else Standing.REFUSED, package.fault)
        for identity in package.cases:
            if not is_within(profile_of(named_cases()[identity]), profile) or not selects(pattern, identity):
                continue
            if claims.covers(identity, "0.0", device.info.features):
                yield Planned(identity, Standing.EXPECTED)
            elif is_mine:
                yield Planned(identity, Standing.UNCLAIMED)
            else:
                yield Planned(
                    identity,
                    Standing.REFUSED,
                    f"not claimed; {package.distribution} has it for providers that claim it",
                )


def _primitives(
    device: ep.Device, claims: Claims, profile: str, pattern: str | None, *, every: int
) -> Iterator[Planned]:
    for family, cell in in_turn(cells(pattern), every):
        if not may_select(pattern, cell):
            continue
        standing = functools.cache(functools.partial(_standing, device, claims, family, cell))
        for found in cell_cases(family, cell, profile):
            if selects(pattern, found.id):
                place = standing()
                if place is Standing.EXPECTED and _is_new(claims, found.case):
                    place = Standing.NEW
                reason = "not claimed, and no implementation accepts it" if place is Standing.REFUSED else ""
                yield Planned(found.id, place, reason)


def _is_new(claims: Claims, case: Case | Sweep) -> bool:
    """Say whether a case is younger than the suite that the claims name, although its cell is not."""
    since = getattr(case, "since", "")
    return bool(since) and claims.is_new(since)


def _standing(device: ep.Device, claims: Claims, family: ep.Family, cell: ep.Cell) -> Standing:
    since = family.since(cell)
    if claims.covers(str(cell), since, device.info.features):
        return Standing.EXPECTED
    if claims.covers(str(cell), "0.0", device.info.features):
        return Standing.NEW
    return Standing.REFUSED if how(device, family, cell) == "none" else Standing.UNCLAIMED


def _info(device: ep.Device) -> dict[str, Any]:
    fields = device.info._asdict() | {"memory_kinds": frozenset(kind.name for kind in device.info.memory_kinds)}
    info = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in fields.items()}
    table = device.provider.implementations.values()
    rows = {str(row.name) for implementations in table for row in implementations}
    return info | {"name": device.name, "model": device.info.name, "implementations": sorted(rows)}
