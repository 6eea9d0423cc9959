"""The contract of each function that a provider writes, and the place where a provider has written it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ep

__all__ = ["CONTRACTS", "Function", "find_function", "place_of", "shown_path"]

CONTRACTS: Final[dict[str, type[Any]]] = {
    "Provider": ep.spi.Provider,
    "Device": ep.spi.Device,
    "Stream": ep.spi.Stream,
    "Event": ep.spi.Event,
    "Implementation": ep.Implementation,
    "Kernel": ep.Kernel,
}
"""The classes of EP from which a provider's own inherit."""


@dataclass(frozen=True)
class Function:
    """A function that a provider has written, or is to write.

    contract   : its name in EP, such as "Stream.copy"; "" for a function that EP does not know
    name       : with the provider's class, such as "AcmeStream.copy"
    place      : "ep_acme/stream.py:9"; of a missing function the file of its class; "" if that is unknown
    is_there   : False if it is to be written
    signature  : as EP declares it
    asks       : its docstring in EP
    """

    contract: str
    name: str
    place: str
    is_there: bool
    signature: str
    asks: str

    @property
    def headline(self) -> str:
        """One line: what to do, and where."""
        if not self.place:
            return f"write {self.name}"
        return f"{'mend' if self.is_there else 'write'} {self.name} in {self.place}"


def find_function(contract: str, kind: type[Any] | None) -> Function:
    """Return a function of the contract as a provider's class has it; a class of None is not known yet.

    Raises KeyError or AttributeError for a name that EP does not have.
    """
    owner, _, name = contract.partition(".")
    declared: Any = inspect.getattr_static(CONTRACTS[owner], name)
    function: Any = declared.fget if isinstance(declared, property) else declared
    # Annotations are text in EP's own files, and read best without the quotes that inspect puts around them.
    signature = f"def {name}{inspect.signature(function)}".replace("'", "")
    asks = inspect.getdoc(function) or ""
    if kind is None or kind.__module__.partition(".")[0] == "ep":
        name = f"{name} in a subclass of {_shown(owner)}"
        return Function(contract, name, "", is_there=False, signature=signature, asks=asks)
    holder = next((cls for cls in kind.__mro__ if name in vars(cls)), kind)
    is_there = holder.__module__.partition(".")[0] != "ep"
    return Function(
        contract,
        f"{(holder if is_there else kind).__name__}.{name}",
        place_of(inspect.getattr_static(holder, name) if is_there else kind),
        is_there,
        signature,
        asks,
    )


def _shown(owner: str) -> str:
    return f"ep.spi.{owner}" if hasattr(ep.spi, owner) else f"ep.{owner}"


def shown_path(file: Path, package: str) -> str:
    """Return a file of a package relative to it: "package/file.py"."""
    parts = file.parts
    if package not in parts:
        return file.name
    return "/".join(parts[len(parts) - 1 - parts[::-1].index(package) :])


def place_of(thing: Any) -> str:
    """Return where a class or function stands, as "package/file.py" and, of a function, ":line"; "" if nobody knows."""
    thing = thing.fget if isinstance(thing, property) else thing
    thing = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
    try:
        file = Path(inspect.getsourcefile(thing) or "")
        line = inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return ""
    package = thing.__module__.partition(".")[0]
    shown = shown_path(file, package)
    return shown if isinstance(thing, type) else f"{shown}:{line}"
