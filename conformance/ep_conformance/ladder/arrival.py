"""Rung 0: load a provider in a process of its own, and report how far it came and which functions it has.

`python -m ep_conformance.ladder.arrival NAME INDEX FILE` writes its findings to a file after each step, so that a
process that dies leaves the findings so far.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import importlib.util
import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep.plugin.capabilities import ABILITIES, ability
from ep.plugin.claims import ClaimsError, read_claims

import ep
from ep_conformance.fixture.kernel import find_kernel
from ep_conformance.ladder.contract import CONTRACTS, Function, find_function, place_of

if TYPE_CHECKING:
    from ep.plugin.registry import Registration

__all__ = ["STEPS", "Arrival", "arrive"]

_SECONDS: Final = 120.0
_TAIL: Final = 2000

STEPS: Final = {
    "manifest": "provider.toml and claims.toml are read, and its SPI version meets this EP's",
    "import": "the package is imported and its hook ep_provider() returns an ep.Provider",
    "methods": "its classes have every method that a provider must write",
    "probe": "its hardware is found, or said not to be there",
    "devices": "its devices are named",
    "device": "the device describes itself and gives a stream",
}
"""What a provider passes on its way, in order."""


@dataclass
class Arrival:
    """How far a provider came.

    provider     : its name
    step         : the one of STEPS that it failed, or reached last; "" if it passed them all
    reason       : the cause of the failure, "" without one
    absent       : the reason that its hardware is not on this machine, which is no fault of it; "" otherwise
    traceback    : of its own code, or what the process printed when it died
    folder       : of its package
    functions    : the functions of the contract, by EP's name, as this provider has them
    missing      : the functions that it must write and has not
    rows         : its implementations and where they stand, by family
    abilities    : how each optional ability is served, by name: native, degraded or none
    device       : of the device under test: its model, how many there are, determinism and whether it is fork-safe
    """

    provider: str
    step: str = ""
    reason: str = ""
    absent: str = ""
    traceback: str = ""
    folder: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    missing: list[Function] = field(default_factory=list)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    abilities: dict[str, str] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)

    def function(self, contract: str) -> Function:
        """Return a function of the contract, as this provider has it."""
        return self.functions.get(contract) or find_function(contract, None)


def arrive(name: str, index: int) -> Arrival:
    """Load an installed provider in a process of its own, whatever that does to the process."""
    with tempfile.TemporaryDirectory(prefix="ep-conformance-") as folder:
        file = Path(folder) / "arrival.json"
        words = [sys.executable, "-m", "ep_conformance.ladder.arrival", name, str(index), str(file)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SECONDS)  # noqa: S603 - ourselves
            how = _ending(done.returncode)
            said = done.stderr
        except subprocess.TimeoutExpired as late:
            how, said = f"it did not end within {_SECONDS:.0f} s", (late.stderr or b"").decode(errors="replace")
        found = _read(file, name)
    if how:
        words = said.strip().splitlines()
        found.reason = f"{how}; it printed last: {words[-1]}" if words else how
        found.traceback = said[-_TAIL:]
    return found


def _ending(code: int) -> str:
    if code < 0:
        return f"the process ended with signal {-code} ({signal.Signals(-code).name})"
    return f"the process ended with exit code {code}" if code else ""


def _read(file: Path, name: str) -> Arrival:
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return Arrival(name, step="manifest")
    table["functions"] = {contract: Function(**each) for contract, each in table["functions"].items()}
    table["missing"] = [Function(**each) for each in table["missing"]]
    return Arrival(**table)


class _Fault(Exception):  # noqa: N818 - the provider's fault, no error of the suite
    """The provider came no further; the message says why."""


def _examine(name: str, index: int, file: Path) -> None:
    arrival = Arrival(name)

    def enter(step: str) -> None:
        arrival.step = step
        file.write_text(json.dumps(asdict(arrival)), encoding="utf-8")

    registration = ep.providers()[name]
    try:
        enter("manifest")
        spec = importlib.util.find_spec(registration.package)
        arrival.folder = str(Path(spec.origin).parent) if spec is not None and spec.origin else ""
        if registration.decided_by:
            arrival.absent = registration.refusal
            return
        _read_texts(registration)
        enter("import")
        _load(registration, arrival)
        enter("probe")
        devices = _devices(registration, arrival, index)
        if devices:
            enter("device")
            _look_at(devices[index], len(devices), arrival)
            arrival.step = ""
    except (_Fault, ClaimsError) as fault:
        arrival.reason, arrival.traceback = str(fault), registration.traceback[-_TAIL:]
    finally:
        file.write_text(json.dumps(asdict(arrival)), encoding="utf-8")


def _read_texts(registration: Registration) -> None:
    if registration.fault or registration.manifest is None:
        raise _Fault(registration.fault)
    read_claims(registration.manifest.claims)


def _load(registration: Registration, arrival: Arrival) -> None:
    try:
        provider = registration.load()
    except ep.UnavailableError:
        provider = None
    _list_functions(registration.package, arrival)
    arrival.missing = _missing(registration.package)
    if arrival.missing:
        arrival.step = "methods"
        names = ", ".join(function.name for function in arrival.missing)
        message = f"a provider must write {names}, and this one has not"
        raise _Fault(message)
    if provider is None:
        raise _Fault(registration.fault)


def _devices(registration: Registration, arrival: Arrival, index: int) -> tuple[ep.Device, ...]:
    try:
        devices: tuple[ep.Device, ...] = registration.devices()
    except ep.UnavailableError as error:
        if registration.traceback:
            raise _Fault(registration.fault) from None
        arrival.absent = str(error)
        return ()
    if not devices:
        arrival.step = "devices"
        message = "devices() returned none, although probe() found the hardware"
        raise _Fault(message)
    if index >= len(devices):
        arrival.absent = f"device {registration.name}:{index} is not on this machine; there are {len(devices)}"
        return ()
    return devices


def _look_at(device: ep.Device, count: int, arrival: Arrival) -> None:
    registration = ep.providers()[device.provider.name]

    def look() -> None:
        stream = device.stream()
        kinds = {"Device": type(device.twin), "Stream": type(stream.twin), "Event": type(stream.record().twin)}
        stream.close()
        arrival.functions |= _functions(kinds)
        arrival.rows = {
            kind.family: {type(row).__name__: place_of(type(row)) for row in rows}
            for kind, rows in device.provider.implementations.items()
        }
        arrival.abilities = {name: ability(device, name) for name in ABILITIES}
        kernel = find_kernel(device)
        arrival.device = {
            "model": device.info.name,
            "count": count,
            "determinism": device.info.determinism,
            "fork_safe": device.provider.manifest.fork_safe,
            "kernel": "" if kernel is None else str(kernel),
        }

    try:
        registration.guard(look, "failed while its devices and functions were listed")
    except ep.UnavailableError as error:
        raise _Fault(str(error)) from None
    if registration.fault:
        raise _Fault(registration.fault)


def _own(package: str, kind: type[Any]) -> list[type[Any]]:
    """Return the classes of a package that inherit from one of EP's and have no subclasses."""
    gc.collect()  # a class of a module that failed to be imported half-way may still be there
    found, todo = [], [kind]
    while todo:
        cls = todo.pop()
        below = cls.__subclasses__()
        todo += below
        if not below and cls.__module__.partition(".")[0] == package:
            found.append(cls)
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


def _missing(package: str) -> list[Function]:
    return [
        find_function(f"{owner}.{name}", kind)
        for owner, declared in CONTRACTS.items()
        for kind in _own(package, declared)
        for name in sorted(getattr(kind, "__abstractmethods__", ()))
        if hasattr(declared, name)
    ]


def _list_functions(package: str, arrival: Arrival) -> None:
    owned = {owner: _own(package, declared) for owner, declared in CONTRACTS.items()}
    arrival.functions = _functions({owner: kinds[0] for owner, kinds in owned.items() if len(kinds) == 1})


def _functions(kinds: dict[str, type[Any]]) -> dict[str, Function]:
    found = {}
    for owner, kind in kinds.items():
        for name in dir(CONTRACTS[owner]):
            declared = getattr(CONTRACTS[owner], name)
            if name.startswith("__") or not (callable(declared) or isinstance(declared, property)):
                continue
            if not getattr(declared, "__final__", False):
                found[f"{owner}.{name}"] = find_function(f"{owner}.{name}", kind)
    return found


if __name__ == "__main__":
    faulthandler.enable()
    _examine(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
