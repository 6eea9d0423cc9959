"""provider.toml: a provider's name, vendor and SPI version, readable without importing the provider."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.ground.glimpse import glimpse
from ep.ground.textfile import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SPI", "Manifest", "ManifestError", "read_manifest", "refuse_version"]

SPI: Final = (0, 2)
"""The version of the provider interface that this EP offers: (major, minor)."""

_SPI_FORM = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\Z")
_KNOWN: Final = {"name": str, "vendor": str, "spi": str, "fork_safe": bool, "emulator": dict}


class ManifestError(Exception):
    """provider.toml is missing or wrong; the message says what to write."""


class Manifest(NamedTuple):
    """The contents of provider.toml, and where it lies.

    spi        : (major, minor) of the provider interface it was written for
    fork_safe  : True if its devices may be opened in a forked child
    emulator   : words in front of a command that runs it without the hardware, such as ("ep-cuda-emulator", "run", "--"); none
                 if there is no such program
    """

    name: str
    vendor: str
    spi: tuple[int, int]
    fork_safe: bool
    path: Path
    emulator: tuple[str, ...] = ()

    @property
    def claims(self) -> Path:
        """The claims.toml beside it, which may be absent: then nothing is claimed."""
        return self.path.with_name("claims.toml")


def read_manifest(path: Path) -> Manifest:
    """Return the manifest at a path. Raises ManifestError."""
    try:
        table = tomllib.loads(read_text(path))
    except FileNotFoundError:
        message = f"{path.name} is missing beside the package's __init__.py; it needs name, vendor, spi, fork_safe"
        raise ManifestError(message) from None
    except (OSError, ValueError) as error:
        message = f"{path.name} cannot be read: {error}"
        raise ManifestError(message) from None
    except RecursionError:
        message = f"{path.name} cannot be read: it is nested too deeply"
        raise ManifestError(message) from None
    for key, kind in _KNOWN.items():
        if key == "emulator" and key not in table:
            continue
        if not isinstance(table.get(key), kind):
            message = f"{path.name}: {key} is {glimpse(table.get(key))}, needs a {kind.__name__}"
            raise ManifestError(message)
    emulator = _emulator(table, path)
    return Manifest(table["name"], table["vendor"], _version(table, path), table["fork_safe"], path, emulator)


def _emulator(table: dict[str, Any], path: Path) -> tuple[str, ...]:
    words = table.get("emulator", {"command": []}).get("command")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        message = (
            f'{path.name}: [emulator] has command {glimpse(words)}, needs a list of words, such as ["emulate", "--"]'
        )
        raise ManifestError(message)
    return tuple(words)


def _version(table: dict[str, Any], path: Path) -> tuple[int, int]:
    found = _SPI_FORM.match(table["spi"])
    if found is None:
        message = f'{path.name}: spi is {glimpse(table["spi"])}, needs "major.minor", such as "{SPI[0]}.{SPI[1]}"'
        raise ManifestError(message)
    return int(found[1]), int(found[2])


def refuse_version(spi: tuple[int, int], host: tuple[int, int] = SPI) -> str | None:
    """Return why a provider's SPI version does not meet the host's, None if it does.

    Equal majors meet if the provider's minor is not newer; while the major is 0, minors must be equal.
    """
    theirs, ours = ".".join(map(str, spi)), ".".join(map(str, host))
    if spi[0] != host[0] or (host[0] == 0 and spi[1] != host[1]):
        needed = f"spi {ours}" if host[0] == 0 else f"spi {host[0]}.0 to {ours}"
        return f"written for spi {theirs}, and this EP meets {needed}; install the release of either that matches"
    if spi[1] > host[1]:
        return f"written for spi {theirs}, newer than this EP's {ours}; upgrade execution-provider"
    return None
