"""claims.toml: what a provider says it can do, in patterns over cells; the suite holds it to that."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from ep.cells import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["Claim", "Claims", "ClaimsError", "parse_version", "read_claims"]

_PARTS = {"runtime": 3}
_CELL_PARTS = 4


class ClaimsError(Exception):
    """claims.toml cannot be used; the message says where and what to write."""


class Claim(NamedTuple):
    """One entry: a pattern over cells (or `runtime/area/name`), and features of the device that it needs."""

    cells: str
    when: tuple[str, ...] = ()

    def covers(self, name: str, features: Iterable[str]) -> bool:
        """Say whether the entry claims a cell or runtime ability on a device with these features."""
        return matches(self.cells, name) and set(self.when) <= set(features)


class Claims(NamedTuple):
    """A provider's claims.

    suite    : the suite version they were written for; rows newer than it are not covered by any pattern
    entries  : the claims, in the file's order
    """

    suite: str
    entries: tuple[Claim, ...]

    def covers(self, name: str, since: str, features: Iterable[str]) -> bool:
        """Say whether a cell or ability that the suite has `since` a version is claimed on such a device."""
        if self.is_new(since):
            return False
        return any(entry.covers(name, features) for entry in self.entries)

    def is_new(self, since: str) -> bool:
        """Say whether something is newer than the suite these claims were written for."""
        return parse_version(since) > parse_version(self.suite)

    def stale(self, names: Sequence[str]) -> list[Claim]:
        """Return the entries whose pattern matches none of the names: a misspelling claims nothing."""
        return [entry for entry in self.entries if not any(matches(entry.cells, name) for name in names)]


def parse_version(text: str) -> tuple[int, int]:
    """Return "major.minor" as two integers. Raises ValueError."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def read_claims(path: Path) -> Claims:
    """Return the claims in a file; a file that is not there claims nothing.

    Raises ClaimsError for one that is wrong, naming the entry.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Claims("1.0", ())
    except (OSError, ValueError) as error:
        message = f"{path.name} cannot be read: {error}"
        raise ClaimsError(message) from None
    unknown = sorted(table.keys() - {"suite", "claim"})
    if unknown:
        message = f"{path.name}: unknown key {unknown[0]!r}; it holds suite and [[claim]] tables"
        raise ClaimsError(message)
    try:
        suite = table["suite"]
        parse_version(suite)
    except (KeyError, ValueError, AttributeError):
        message = f'{path.name}: suite is {table.get("suite")!r}, needs "major.minor", such as "1.0"'
        raise ClaimsError(message) from None
    return Claims(
        suite, tuple(_claim(entry, f"{path.name}: claim {i}") for i, entry in enumerate(table.get("claim", []), 1))
    )


def _claim(entry: Any, where: str) -> Claim:
    if not isinstance(entry, dict) or not isinstance(entry.get("cells"), str) or entry.keys() - {"cells", "when"}:
        message = f'{where}: is {entry!r}, needs cells = "family/op/dtypes/layout" and perhaps when = ["feature"]'
        raise ClaimsError(message)
    when = entry.get("when", [])
    if not isinstance(when, list) or not all(isinstance(word, str) for word in when):
        message = f"{where}: when is {when!r}, needs a list of features"
        raise ClaimsError(message)
    parts = entry["cells"].split("/")
    needed = _PARTS.get(parts[0], _CELL_PARTS)
    if len(parts) != needed:
        form = "runtime/area/name" if parts[0] == "runtime" else "family/op/dtypes/layout"
        message = f"{where}: cells {entry['cells']!r} has {len(parts)} parts, needs {needed}: {form}"
        raise ClaimsError(message)
    return Claim(entry["cells"], tuple(when))
