"""Discovery: which providers are installed, each looked at alone, so that a broken one harms nobody."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ep.errors import UnavailableError
from ep.ground import words
from ep.ground.glimpse import glimpse
from ep.ground.turn import Turn
from ep.hooks import specified
from ep.plugin.distributions import entries
from ep.plugin.ending import end
from ep.plugin.manifest import Manifest, ManifestError, read_manifest, refuse_version
from ep.plugin.provider import Provider
from ep.spi.provider import Provider as SpiProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.plugin.distributions import Entry
    from ep.stream.device import Device

__all__ = ["Registration", "call_hook", "device", "devices", "entries", "provider", "providers", "twins"]

_PROVIDERS: Final = "ep.providers"
_NAME: Final = re.compile(r"[A-Za-z_][\w-]*\Z")
_DEVICE_FORM: Final = re.compile(r"(?P<name>[A-Za-z_][\w-]*)(?::(?P<index>[0-9]{1,9}))?\Z")

Result = TypeVar("Result")


class Registration:
    """One installed provider, found without importing it.

    name          : of its entry point
    package       : the top-level import package that it names
    distribution  : "name version" of what installed it
    is_ours       : True if EP itself brings it
    manifest      : its provider.toml, None if that is missing or wrong
    fault         : the reason that it cannot be used, "" if there is none
    traceback     : the real traceback, if its own code failed while it was loaded or probed
    decided_by    : the variable that switched it off, "" if none did
    """

    def __init__(self, entry: Entry) -> None:
        self.name = entry.name
        self.package = entry.value
        self.distribution = entry.distribution
        self.version = entry.version
        self.is_ours = entry.is_ours
        self.manifest: Manifest | None = None
        self.fault = ""
        self.traceback = ""
        self._provider: Provider | None = None
        self._turn = Turn(f"{entry.group.removeprefix('ep.').removesuffix('s')} {entry.name}")

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
        if not _NAME.match(self.name):
            self.fault = f"its entry point is called {glimpse(self.name)}, needs a word of letters, digits, _ and -"
            return
        try:
            self.manifest = read_manifest(_package_folder(self.package) / "provider.toml")
        except ManifestError as error:
            self.fault = words.message(error)
            return
        if self.manifest.name != self.name:
            self.fault = (
                f"provider.toml names it {self.manifest.name!r}, its entry point {self.name!r}; make them equal"
            )
        else:
            self.fault = refuse_version(self.manifest.spi) or ""

    def load(self) -> Provider:
        """Import the package and call its hook, once. Raises UnavailableError, keeping the traceback."""
        if self._provider is None and not self.refusal:
            with self._turn.taken():
                if self._provider is None and not self.fault:
                    self._provider = self.guard(self._load, "could not be loaded")
        return self._usable()

    def probe(self) -> Provider:
        """Load the provider and look for its hardware, once. Raises UnavailableError: not here, or its own code failed."""
        loaded = self.load()
        if loaded._reason is None:
            with self._turn.taken():
                if not self.fault:
                    self.guard(loaded._look, "failed while it was probed")
        self._usable()._require()
        return loaded

    def devices(self) -> tuple[Device, ...]:
        """Return the provider's devices. Raises UnavailableError: not here, or its own code failed."""
        loaded = self._provider
        if loaded is not None and loaded._is_ready() and not self.refusal:
            return loaded._opened()
        loaded = self.probe()
        if not loaded._is_ready():
            with self._turn.taken():
                if not self.fault:
                    self.guard(loaded._make, "failed while its devices were made")
        return self._usable()._opened()

    def guard(self, call: Callable[[], Result], what: str) -> Result | None:
        """Return the result of a plug-in's own code. If that raises anything but Ctrl-C, keep the fault and traceback.

        An UnavailableError is an answer and is passed on.
        """
        try:
            return call()
        except UnavailableError as error:
            raise UnavailableError(words.message(error)) from error  # its own class may say nothing
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if self._turn.refusal:
                raise  # the cause may be gone when it is asked again
            self.traceback = words.traced(error)
            self.fault = f"{what}: {words.said(error)}"
            return None

    def _usable(self) -> Provider:
        if self._provider is None or self.refusal:
            message = f"provider {self.name}: {self.refusal}"
            raise UnavailableError(message)
        return self._provider

    def _load(self) -> Provider:
        found = call_hook(self.package, "ep_provider")
        if SpiProvider not in type(found).__mro__:
            message = f"ep_provider() of {self.package} returned {glimpse(found)}, needs an ep.spi.Provider"
            raise TypeError(message)
        twin = next((other for other in _LOADED if found is other.twin), None)
        if twin is not None or self.manifest is None:
            message = f"ep_provider() of {self.package} returned provider {twin and twin.name} once more; make one for each name"
            raise ValueError(message)
        provider = Provider(found, self.manifest, self._turn)
        _LOADED.append(provider)
        return provider


def providers() -> dict[str, Registration]:
    """Return every installed provider by name, in the order of EP_PROVIDERS, the refused ones too. Imports none."""
    found = _registrations()[0]
    order = {name: position for position, name in enumerate(_names("EP_PROVIDERS") or ())}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))


def twins() -> tuple[Registration, ...]:
    """Return the providers of others that took a name of EP's own, each with its fault."""
    return _registrations()[1]


def provider(name: str) -> Provider:
    """Return a provider, loaded but not probed.

    Raises ValueError for a name that is not installed, UnavailableError for one that is refused or broken.
    """
    return _find(name).load()


def devices() -> list[Device]:
    """Return the devices of every available provider, probing each; unavailable providers are left out."""
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
    asked = next((each for each in found if each.index == index), None)
    if asked is None:
        have = f"has {form['name']}:0 to {form['name']}:{len(found) - 1}" if found else "has no devices"
        message = f"device {name}: not on this machine; provider {form['name']} {have}"
        raise UnavailableError(message)
    return asked


def _find(name: str) -> Registration:
    known = providers()
    if type(name) is not str or name not in known:
        message = f"unknown provider {glimpse(name)}; known are {', '.join(known) or 'none: install one'}"
        raise ValueError(message)
    return known[name]


_found: dict[str, tuple[dict[str, Registration], tuple[Registration, ...]]] = {}


def _registrations() -> tuple[dict[str, Registration], tuple[Registration, ...]]:
    """Return the provider of each name, and foreign providers with a name of EP's own. The same objects each time."""
    if "all" not in _found:
        named: dict[str, list[Registration]] = {}
        for entry in entries(_PROVIDERS):
            registration = Registration(entry)
            others = named.setdefault(entry.name, [])
            if registration.package not in [other.package for other in others]:
                others.append(registration)
        kept = {name: _settle(registrations) for name, registrations in named.items()}
        refused = [each for registrations in named.values() for each in registrations if each.fault]
        for each in kept.values():
            if not each.fault:
                each.inspect()
        rest = tuple(each for each in refused if each is not kept[each.name])
        # Two threads may have looked at once; both go on with the first one's result.
        _found.setdefault("all", (kept, rest))
    return _found["all"]


def _settle(registrations: list[Registration]) -> Registration:
    """Return the provider that keeps a name: EP's own, else the first. Foreign providers of equal names get a fault."""
    ours = [each for each in registrations if each.is_ours]
    first, *others = ours or registrations
    for each in registrations if ours else ():
        if each is not first:
            each.fault = f"{first.name} is a provider of EP itself ({first.distribution}); rename the entry point, or uninstall {each.distribution}"
    if others:
        names = ", ".join(f"{each.distribution} ({each.package})" for each in (first, *others))
        count = "two" if len(others) == 1 else len(others) + 1
        first.fault = f"{count} packages bring this name, {names}; uninstall all but one"
    return first


def _package_folder(package: str) -> Path:
    if not package.isidentifier():
        message = f"its entry point names {glimpse(package)}, needs a top-level import package"
        raise ManifestError(message)
    try:
        spec = importlib.util.find_spec(package)
    except Exception as error:
        message = f"its package {package} cannot be found: {words.said(error)}"
        raise ManifestError(message) from error
    if spec is None or spec.origin is None or not spec.has_location:
        message = f"its package {package} is not importable; reinstall it"
        raise ManifestError(message)
    return Path(spec.origin).parent


def call_hook(package: str, hook: str) -> Any:
    """Import a package and return the result of its hook. Raises TypeError without one of either, or the package's error."""
    # A manager for each plug-in: pluggy's own loading would let a single raising one end discovery for all.
    manager = specified()
    manager.register(importlib.import_module(package))
    manager.check_pending()
    caller = getattr(manager.hook, hook)
    if not caller.get_hookimpls():
        message = f"package {package} implements no hook {hook}; mark it with @ep.provider_hook or @ep.family_hook"
        raise TypeError(message)
    found = caller()
    if found is None:
        message = f"{hook}() of {package} returned None; let it return what it makes"
        raise TypeError(message)
    return found


def _names(variable: str) -> tuple[str, ...] | None:
    text = os.environ.get(variable)
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _shut_down() -> None:
    """Close all streams, then all memories, then all devices, when the process ends. Takes no turn."""
    end([device for loaded in _LOADED for device in loaded._opened()])


def _after_fork() -> None:
    """Let every object made before fork() refuse, and providers that are not fork-safe, too."""
    for loaded in _LOADED:
        loaded._after_fork()


_LOADED: list[Provider] = []

atexit.register(_shut_down)
os.register_at_fork(after_in_child=_after_fork)
