"""Discovery: which providers are installed, each looked at alone, so that a broken one harms nobody."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import re
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ep.ending import end
from ep.errors import UnavailableError
from ep.glimpse import glimpse
from ep.hooks import specified
from ep.manifest import Manifest, ManifestError, read_manifest, refuse_version
from ep.provider import LOADING, Provider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

    from ep.device import Device

__all__ = ["Registration", "call_hook", "device", "devices", "entries", "provider", "providers"]

_PROVIDERS: Final = "ep.providers"
_DEVICE_FORM = re.compile(r"(?P<name>[A-Za-z_][\w-]*)(?::(?P<index>[0-9]{1,9}))?\Z")

Result = TypeVar("Result")


class Registration:
    """One installed provider, found without importing it.

    name          : of its entry point
    package       : the top-level import package that it names
    distribution  : "name version" of what installed it
    manifest      : its provider.toml, None if that is missing or wrong
    fault         : what is wrong with it, "" if nothing is
    traceback     : the real traceback, if its own code failed while it was loaded or probed
    decided_by    : the variable that switched it off, "" if none did
    """

    def __init__(self, entry: EntryPoint) -> None:
        self.name = entry.name
        self.package = entry.value
        self.distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
        self.version = entry.dist.version if entry.dist else ""
        self.manifest: Manifest | None = None
        self.fault = ""
        self.traceback = ""
        self._provider: Provider | None = None

    @property
    def decided_by(self) -> str:
        """The variable that switched the provider off, "" if none did."""
        if self.name in (_names("EP_DISABLE") or ()):
            return "EP_DISABLE"
        chosen = _names("EP_PROVIDERS")
        return "EP_PROVIDERS" if chosen is not None and self.name not in chosen else ""

    @property
    def refusal(self) -> str:
        """Why the provider is not to be used, "" if it is."""
        variable = self.decided_by
        return f"switched off by {variable}={os.environ[variable]}" if variable else self.fault

    def inspect(self) -> None:
        """Read the manifest and judge the SPI version, importing nothing."""
        try:
            self.manifest = read_manifest(_package_folder(self.package) / "provider.toml")
        except ManifestError as error:
            self.fault = f"{error}"
            return
        if self.manifest.name != self.name:
            self.fault = (
                f"provider.toml names it {self.manifest.name!r}, its entry point {self.name!r}; make them equal"
            )
        else:
            self.fault = refuse_version(self.manifest.spi) or ""

    def load(self) -> Provider:
        """Import the package and call its hook, once. Raises UnavailableError, keeping the traceback."""
        with LOADING:
            if self._provider is None and not self.refusal:
                found = self.guard(self._load, "could not be loaded")
                if found is not None and self.manifest is not None:
                    found.name, found.manifest = self.name, self.manifest
                    self._provider = found
                    _LOADED.append(found)
            if self._provider is None or self.refusal:
                message = f"provider {self.name}: {self.refusal}"
                raise UnavailableError(message)
            return self._provider

    def devices(self) -> tuple[Device, ...]:
        """Return the provider's devices. Raises UnavailableError: not here, or its own code failed."""
        with LOADING:
            found = self.guard(self.load().devices, "failed while it was probed")
            if found is None:
                message = f"provider {self.name}: {self.refusal}"
                raise UnavailableError(message)
            return found

    def guard(self, call: Callable[[], Result], what: str) -> Result | None:
        """Return what a plug-in's own code returns; if it raises anything at all, keep the traceback and the fault.

        An UnavailableError is an answer and passes.
        """
        try:
            return call()
        except UnavailableError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the one guard around a stranger's code
            self.traceback = traceback.format_exc()
            self.fault = f"{what}: {type(error).__name__}: {error}"
            return None

    def _load(self) -> Provider:
        found = call_hook(self.package, "ep_provider")
        if not isinstance(found, Provider):
            message = f"ep_provider() of {self.package} returned {found!r}, needs an ep.Provider"
            raise TypeError(message)
        return found


def providers() -> dict[str, Registration]:
    """Return every installed provider by name, in the order of EP_PROVIDERS, the refused ones too. Imports none."""
    with LOADING:
        found = _registrations()
    order = {name: position for position, name in enumerate(_names("EP_PROVIDERS") or ())}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))


def provider(name: str) -> Provider:
    """Return a provider, loaded but not probed.

    Raises ValueError for a name that is not installed, UnavailableError for one that is refused or broken.
    """
    return _find(name).load()


def devices() -> list[Device]:
    """Return the devices of every provider that is here, probing each; those that are not here are left out."""
    found: list[Device] = []
    for registration in providers().values():
        try:
            found.extend(registration.devices())
        except UnavailableError:
            continue
    return found


def device(name: str) -> Device:
    """Return a device by name: "cpu:0", or "cpu" for the first. Equal names give the same object.

    Raises ValueError for an unknown provider or a name of another form, UnavailableError if it is not on this machine.
    """
    form = _DEVICE_FORM.match(name) if issubclass(type(name), str) else None
    if form is None:
        message = f'device: {glimpse(name)} is not a device name; write "provider:index", such as "cpu:0"'
        raise ValueError(message)
    index = int(form["index"] or 0)
    found = _find(form["name"]).devices()
    if index >= len(found):
        have = f"has {form['name']}:0 to {form['name']}:{len(found) - 1}" if found else "has no devices"
        message = f"device {name}: not on this machine; provider {form['name']} {have}"
        raise UnavailableError(message)
    return found[index]


def _find(name: str) -> Registration:
    known = providers()
    if type(name) is not str or name not in known:
        message = f"unknown provider {glimpse(name)}; known are {', '.join(known) or 'none: install one'}"
        raise ValueError(message)
    return known[name]


@cache
def _registrations() -> dict[str, Registration]:
    found: dict[str, Registration] = {}
    for entry in entries(_PROVIDERS):
        registration = Registration(entry)
        twin = found.get(entry.name)
        if twin is not None and twin.package != registration.package:
            names = f"{twin.distribution} ({twin.package}) and {registration.distribution} ({registration.package})"
            twin.fault = f"two packages bring this name, {names}; uninstall one"
            continue
        found[entry.name] = registration
        registration.inspect()
    return found


def entries(group: str) -> Sequence[EntryPoint]:
    """Return the entry points of a group in the order of their names."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 15 ms, and only discovery needs it

    return sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))


def _package_folder(package: str) -> Path:
    if not package.isidentifier():
        message = f"its entry point names {package!r}, needs a top-level import package"
        raise ManifestError(message)
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError) as error:
        message = f"its package {package} cannot be found: {error}"
        raise ManifestError(message) from error
    if spec is None or spec.origin is None:
        message = f"its package {package} is not importable; reinstall it"
        raise ManifestError(message)
    return Path(spec.origin).parent


def call_hook(package: str, hook: str) -> Any:
    """Import a package and return what its hook returns. Raises TypeError if it has none, and whatever its code raises."""
    # A manager for each plug-in: pluggy's own loading would let a single raising one end discovery for all.
    manager = specified()
    manager.register(importlib.import_module(package))
    manager.check_pending()
    found = getattr(manager.hook, hook)()
    if found is None:
        message = f"package {package} implements no hook {hook}; mark it with @ep.provider_hook or @ep.family_hook"
        raise TypeError(message)
    return found


def _names(variable: str) -> tuple[str, ...] | None:
    text = os.environ.get(variable)
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _shut_down() -> None:
    """Close all streams, then all memories, then all devices, when the process ends."""
    end([device for loaded in _LOADED for device in loaded._opened()])


def _after_fork() -> None:
    """Let every object made before fork() refuse, and providers that are not fork-safe, too."""
    for loaded in _LOADED:
        loaded._after_fork()


_LOADED: list[Provider] = []

atexit.register(_shut_down)
os.register_at_fork(after_in_child=_after_fork)
