"""The program of the process that examines one plug-in. `ep.plugin.hearing` starts it and reads its lines.

A line is a JSON list: ["stage", STAGE, DEVICE], ["finding", DEVICE, VERDICT, REASON, ORIGIN, TRACEBACK],
["device", ROW] or ["families", NAMES]. DEVICE is a number, -1 for the plug-in itself.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep.errors import UnavailableError
from ep.ground import words
from ep.plugin.doctor import Finding, self_check
from ep.plugin.families import installed_packages
from ep.plugin.registry import providers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.plugin.registry import Registration
    from ep.stream.device import Device

    Send = Callable[..., None]

__all__ = ["main"]

_LONGEST_ADVICE: Final = 300

_GRACE: Final = 10
"""Seconds after its time limit at which this process ends itself, if its parent no longer exists to end it."""


def main() -> None:
    """Examine a plug-in. Arguments: the pipe for answers, a pipe that ends with the parent, the limit, the subject."""
    answers, leash, seconds, group, name, is_checked = json.loads(sys.argv[2])
    for pipe in (answers, leash):
        os.set_inheritable(pipe, False)  # noqa: FBT003 - it takes no keyword
    _make_mortal(leash, seconds)

    def send(*line: Any) -> None:
        rest = (json.dumps(line) + "\n").encode()
        while rest:
            rest = rest[os.write(answers, rest) :]

    if group == "ep.families":
        _families(name, send)
    else:
        _provider(providers()[name], send, is_checked=is_checked)
    send("stage", "end", -1)


def _make_mortal(leash: int, seconds: float) -> None:
    """End this process when its parent ends, and print its stack on request and when it crashes."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    signal.alarm(math.ceil(seconds) + _GRACE)

    def follow() -> None:
        os.read(leash, 1)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=follow, daemon=True).start()


def _families(package: str, send: Send) -> None:
    send("stage", "families", -1)
    found = next(each for each in installed_packages() if each.package == package)
    found.find()
    if found.fault:
        send("finding", -1, "broken", found.fault, found.distribution, found.traceback)
    send("families", [*found.families])


def _provider(registration: Registration, send: Send, *, is_checked: bool) -> None:
    say = partial(_say, send, registration)
    try:
        send("stage", "import", -1)
        registration.load()
        send("stage", "probe", -1)
        registration.probe()
        send("stage", "devices", -1)
        found = registration.devices()
    except UnavailableError as error:
        reason = str(error).removeprefix(f"provider {registration.name}: ")
        say("broken" if registration.traceback else "unavailable", reason)
        return
    say("ok", f"{len(found)} device{'s' * (len(found) != 1)}{_advice(registration)}")
    for device in found:
        send("device", _row(device))
        if is_checked:
            send("stage", "self-check", device.index)
            finding = _checked(registration, device)
            send("finding", device.index, *finding[1:])


def _say(send: Send, registration: Registration, verdict: str, reason: str) -> None:
    send("finding", -1, verdict, reason, registration.distribution, registration.traceback)


def _advice(registration: Registration) -> str:
    """Return what the provider advises, "" for nothing or if it raises."""
    loaded = registration.load()
    try:
        return "".join(f"; {words.cut(each, _LONGEST_ADVICE)}" for each in loaded.twin.advice())
    except Exception as error:  # noqa: BLE001 - the provider works all the same
        return f"; its advice failed: {words.message(error)}"


def _checked(registration: Registration, device: Device) -> Finding:
    origin = words.cut(device.info.name)
    try:
        reason = registration.guard(partial(self_check, device), "self-check failed")
    except UnavailableError as error:
        reason = f"self-check failed: {words.message(error)}"
    if reason is None:
        return Finding("", "broken", registration.fault, origin, registration.traceback)
    return Finding("", "broken" if reason else "ok", reason or "copies bytes there and back", origin)


def _row(device: Device) -> dict[str, Any]:
    info = device.info
    return {
        "device": device.name,
        "name": words.cut(info.name),
        "vendor": words.cut(info.vendor),
        "driver": words.cut(info.driver),
        "memory": info.memory,
        "memory_kinds": sorted(kind.name for kind in info.memory_kinds),
        "features": sorted(words.cut(feature) for feature in info.features),
        "fingerprint": words.cut(info.fingerprint),
    }
