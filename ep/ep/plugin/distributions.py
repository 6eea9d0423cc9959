"""Which entry points are installed: each distribution looked at alone, so that a damaged one hides no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.ground import words
from ep.ground.textfile import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import Distribution

__all__ = ["Entry", "Unreadable", "entries", "unreadable"]

_OURS: Final = "execution-provider"
"""EP's own distribution. No other distribution may take the names of its providers and families."""
_PREFIX: Final = "ep."
_FOLDER: Final = re.compile(r"(?P<name>[^-]+)(?:-(?P<version>[^-]+).*)?\.(?:dist|egg)-info\Z")


class Entry(NamedTuple):
    """One entry point of a group of EP.

    distribution  : "name version" of what installed it
    is_ours       : True if that is EP itself
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    is_ours: bool


class Unreadable(NamedTuple):
    """A distribution whose entry points cannot be read, so that it is unknown whether it brings a plug-in."""

    distribution: str
    fault: str
    traceback: str


def entries(group: str) -> list[Entry]:
    """Return the entry points of a group in the order of their names."""
    return sorted((entry for entry in _installed()[0] if entry.group == group), key=lambda entry: entry[1:3])


def unreadable() -> tuple[Unreadable, ...]:
    """Return the distributions whose entry points cannot be read."""
    return _installed()[1]


_found: dict[str, tuple[tuple[Entry, ...], tuple[Unreadable, ...]]] = {}


def _installed() -> tuple[tuple[Entry, ...], tuple[Unreadable, ...]]:
    """Return the entry points of all distributions and the damaged distributions; they are read once a process."""
    if "all" not in _found:
        brought: list[Entry] = []
        damaged: list[Unreadable] = []
        for distribution in _distributions(damaged):
            try:
                brought += _entries_of(distribution)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a finder of a stranger may have made it
                fault = f"its entry_points.txt cannot be read: {words.said(error)}; reinstall or uninstall it"
                damaged.append(Unreadable(_folder(distribution), fault, words.traced(error)))
        # Two threads may have looked at once; both go on with the first one's result.
        _found.setdefault("all", (tuple(brought), tuple(damaged)))
    return _found["all"]


def _distributions(damaged: list[Unreadable]) -> Iterator[Distribution]:
    """Yield the distributions on sys.path, the first of each name, as importing does."""
    from importlib.metadata import distributions  # noqa: PLC0415 - 15 ms, and only discovery needs it

    seen: set[str] = set()
    try:
        for distribution in distributions():
            form = _FOLDER.match(_folder(distribution))
            name = _normal(form["name"]) if form else ""
            if not name or name not in seen:
                seen.add(name)
                yield distribution
    except Exception as error:  # noqa: BLE001 - finders on sys.meta_path are anybody's
        fault = f"distributions cannot be listed to the end: {words.said(error)}"
        damaged.append(Unreadable("sys.meta_path", fault, words.traced(error)))


def _entries_of(distribution: Distribution) -> list[Entry]:
    text = _text(distribution, "entry_points.txt")
    if not text:
        return []
    from configparser import ConfigParser  # noqa: PLC0415 - only discovery needs it

    # As importlib.metadata reads it: names as they stand, indentation without a meaning.
    parser = ConfigParser(delimiters=("=",), interpolation=None, strict=False, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # its documented use
    parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    groups = [group for group in parser.sections() if group.startswith(_PREFIX)]
    if not groups:
        return []
    name, version = _identity(distribution)
    is_ours, title = _normal(name) == _OURS, f"{name} {version}".strip()
    return [Entry(group, key, value, title, version, is_ours) for group in groups for key, value in parser.items(group)]


def _identity(distribution: Distribution) -> tuple[str, str]:
    """Return a distribution's name and version: of its metadata, or of its folder where those are damaged."""
    import email  # noqa: PLC0415 - only discovery needs it

    form = _FOLDER.match(_folder(distribution))
    name, version = (form["name"], form["version"] or "") if form else (_folder(distribution), "")
    try:
        text = _text(distribution, "METADATA") or _text(distribution, "PKG-INFO")
    except (OSError, ValueError):
        text = ""
    metadata = email.message_from_string(text)
    return words.cut(metadata["Name"] or name, 100), words.cut(metadata["Version"] or version, 100)


def _text(distribution: Distribution, name: str) -> str:
    """Return one of the files of a distribution, "" if it has none."""
    # Path-like distributions keep their folder here; read_text() would wait for ever for a pipe.
    folder: Any = getattr(distribution, "_path", None)
    if not isinstance(folder, Path):
        return distribution.read_text(name) or ""
    try:
        return read_text(folder / name)
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _folder(distribution: Distribution) -> str:
    return str(getattr(getattr(distribution, "_path", None), "name", "")) or type(distribution).__name__


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
