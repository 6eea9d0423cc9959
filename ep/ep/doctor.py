"""What `ep doctor` finds: every installed provider, why each refused one was refused, and whether devices work."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.errors import EpError, UnavailableError
from ep.families import family_packages
from ep.registry import providers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep.device import Device
    from ep.registry import Registration

__all__ = ["Finding", "examine", "self_check"]

_PATTERN: Final = bytes(range(256)) * 16


class Finding(NamedTuple):
    """One line of the report: `verdict` is ok, unavailable, refused or broken."""

    subject: str
    verdict: str
    reason: str
    origin: str = ""
    traceback: str = ""


def examine() -> Iterator[Finding]:
    """Yield a finding for each provider, device and family package; nothing that is found here raises."""
    for registration in providers().values():
        yield from _provider(registration)
    for package in family_packages():
        verdict = "broken" if package.fault else "ok"
        reason = package.fault or ", ".join(package.families)
        yield Finding(f"families {package.package}", verdict, reason, package.distribution, package.traceback)


def _provider(registration: Registration) -> Iterator[Finding]:
    name, origin = f"provider {registration.name}", registration.distribution
    if registration.refusal and not registration.traceback:
        yield Finding(name, "refused", registration.refusal, origin)
        return
    try:
        found = registration.devices()
    except UnavailableError as error:
        verdict = "broken" if registration.traceback else "unavailable"
        reason = str(error).removeprefix(f"{name}: ")
        yield Finding(name, verdict, reason, origin, registration.traceback)
        return
    yield Finding(name, "ok", f"{len(found)} device{'s' * (len(found) != 1)}", origin)
    for device in found:
        yield _device(registration, device)


def _device(registration: Registration, device: Device) -> Finding:
    name = f"device {device.name}"
    reason = registration.guard(partial(self_check, device), "self-check failed")
    if reason is None:
        return Finding(name, "broken", registration.refusal, device.info.name, registration.traceback)
    return Finding(name, "broken" if reason else "ok", reason or "copies bytes there and back", device.info.name)


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
        return f"self-check failed: {error}"
    if back != _PATTERN:
        at = next(i for i, (have, want) in enumerate(zip(back, _PATTERN, strict=True)) if have != want)
        return f"self-check failed: byte {at} came back as {back[at]:#04x}, was {_PATTERN[at]:#04x}"
    return ""


def variables() -> dict[str, str]:
    """Return the EP_ variables that are set."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith("EP_")}
