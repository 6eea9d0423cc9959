"""The findings of `ep doctor`: every installed plug-in, the reason of each refusal, and whether devices work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.errors import EpError
from ep.ground import words
from ep.plugin.distributions import unreadable
from ep.plugin.families import installed_packages, share
from ep.plugin.hearing import Summons, hear
from ep.plugin.registry import providers, twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep.plugin.account import Account
    from ep.plugin.families import FamilyPackage
    from ep.plugin.registry import Registration
    from ep.stream.device import Device

__all__ = ["Finding", "examine", "look", "self_check", "variables"]

_PATTERN: Final = bytes(range(256)) * 16


class Finding(NamedTuple):
    """One line of the report: `verdict` is ok, unavailable, refused or broken."""

    subject: str
    verdict: str
    reason: str
    origin: str = ""
    traceback: str = ""


def examine(seconds: float) -> Iterator[Finding]:
    """Yield a finding for each provider, device and family package; a broken plug-in raises nothing here.

    seconds : time limit of each plug-in's process
    """
    packages = installed_packages()
    asked = [registration for registration in providers().values() if not registration.refusal]
    summonses = [Summons("ep.providers", each.name, is_checked=True) for each in asked]
    summonses += [Summons("ep.families", package.package) for package in packages]
    heard = hear(summonses, seconds)
    accounts = dict(zip([each.name for each in asked], heard, strict=False))
    for registration in (*providers().values(), *twins()):
        if registration.refusal:
            yield Finding(f"provider {registration.name}", "refused", registration.refusal, registration.distribution)
        else:
            yield from _of_provider(registration, accounts[registration.name])
    yield from _of_families(packages, heard[len(asked) :])
    for damaged in unreadable():
        yield Finding(f"distribution {damaged.distribution}", "refused", damaged.fault, "", damaged.traceback)


def look(seconds: float) -> Iterator[tuple[Registration, Account]]:
    """Yield the findings about each provider that is not refused; each provider is asked in a separate process."""
    asked = [registration for registration in providers().values() if not registration.refusal]
    yield from zip(asked, hear([Summons("ep.providers", each.name) for each in asked], seconds), strict=True)


def _of_provider(registration: Registration, account: Account) -> Iterator[Finding]:
    name, origin = registration.name, registration.distribution
    for device, verdict, reason, its_origin, traceback in account.findings:
        loud = f"{reason}; it prints on stdout: {words.cut(account.noise, 100)}" if account.noise else reason
        yield Finding(_subject(name, device), verdict, loud if device < 0 else reason, its_origin, traceback)
    if account.fault:
        yield Finding(_subject(name, account.at_device), "broken", account.fault, origin, account.traceback)


def _subject(name: str, device: int) -> str:
    return f"provider {name}" if device < 0 else f"device {name}:{device}"


def _of_families(packages: tuple[FamilyPackage, ...], heard: list[Account]) -> Iterator[Finding]:
    """Yield a finding for each package. A family that two packages bring is noticed here, where all are known."""
    for package, account in zip(packages, heard, strict=True):
        package.families = dict.fromkeys(account.families)  # type: ignore[assignment]  # their names are all that is known
        found = [(reason, traceback) for _, _, reason, _, traceback in account.findings]
        failed = [(account.fault, account.traceback)] if account.fault else []
        package.fault, package.traceback = (*failed, *found, ("", ""))[0]
    share(packages)
    for package in packages:
        verdict = "broken" if package.fault else "ok"
        reason = package.fault or ", ".join(package.families)
        yield Finding(f"families {package.package}", verdict, reason, package.distribution, package.traceback)


def self_check(device: Device) -> str:
    """Copy 4 KiB to the device, inside it and back; return what went wrong, "" if nothing did."""
    try:
        stream = device.stream()
        first, second = device.allocate(len(_PATTERN)), device.allocate(len(_PATTERN) + 1)
        back = bytearray(len(_PATTERN))
        stream.upload(first, _PATTERN)
        stream.copy(second[1:], first)
        stream.download(back, second[1:])
        stream.synchronize(timeout=30)
        stream.close()
        first.close()
        second.close()
    except EpError as error:
        return f"self-check failed: {words.message(error)}"
    if back != _PATTERN:
        at = next(i for i, (have, want) in enumerate(zip(back, _PATTERN, strict=True)) if have != want)
        return f"self-check failed: byte {at} came back as {back[at]:#04x}, was {_PATTERN[at]:#04x}"
    return ""


def variables() -> dict[str, str]:
    """Return the EP_ variables that are set."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith("EP_")}
