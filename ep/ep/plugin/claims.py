"""claims.toml: what a provider says it can do, in patterns over cells; the suite holds it to that."""

from __future__ import annotations

import functools
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.ground.glimpse import glimpse
from ep.ground.textfile import read_text
from ep.layout.cells import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["Claim", "Claims", "ClaimsError", "parse_claims", "parse_version", "read_claims"]

_VERSION: Final = re.compile(r"([0-9]+)\.([0-9]+)")
_FORM = "family/op/dtypes/layout"
_FORMS = {"runtime": "runtime/area/name", "vendor": "vendor/entry/name"}
"""Claims that name no cell, by their first part."""


class ClaimsError(Exception):
    """claims.toml cannot be used; the message says where and what to write."""


class Claim(NamedTuple):
    """A pattern over cells (or `runtime/area/name`, `vendor/entry/name`), and features of the device that it needs."""

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
        return any(entry.covers(name, features) for entry in _beginning(self.entries, _start(name)))

    def is_new(self, since: str) -> bool:
        """Say whether something is newer than the suite these claims were written for."""
        return parse_version(since) > parse_version(self.suite)

    def stale(self, names: Sequence[str]) -> list[Claim]:
        """Return the entries whose pattern matches none of the names: a misspelling claims nothing."""
        families: dict[str, list[str]] = {}
        for name in names:
            families.setdefault(name.partition("/")[0], []).append(name)
        return [
            entry
            for entry in self.entries
            if not any(matches(entry.cells, name) for name in families.get(entry.cells.partition("/")[0], names))
        ]


@functools.lru_cache(maxsize=4096)
def _beginning(entries: tuple[Claim, ...], start: str) -> tuple[Claim, ...]:
    """Return the entries that may cover names with these first two parts: cells by the ten thousand meet entries by the hundred."""
    return tuple(entry for entry in entries if matches(_start(entry.cells), start))


def _start(name: str) -> str:
    """Return the first two parts of a name or a pattern."""
    return "/".join(name.split("/", 2)[:2])


def parse_version(text: str) -> tuple[int, int]:
    """Return "major.minor" as two integers. Raises ValueError."""
    found = _VERSION.fullmatch(text)
    if found is None:
        message = f"{text!r} is no version, such as 1.0"
        raise ValueError(message)
    return int(found[1]), int(found[2])


def read_claims(path: Path) -> Claims:
    """Return the claims in a file; a file that is not there claims nothing.

    Raises ClaimsError for one that is wrong, naming the entry.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        return Claims("1.0", ())
    except (OSError, ValueError) as error:
        message = f"{path.name} cannot be read: {error}"
        raise ClaimsError(message) from None
    return parse_claims(text, path.name)


def parse_claims(text: str, name: str) -> Claims:
    """Return the claims in the text of a file. Raises ClaimsError for one that is wrong, naming the file and the entry."""
    try:
        table = tomllib.loads(text)
    except ValueError as error:
        message = f"{name} cannot be read: {error}"
        raise ClaimsError(message) from None
    except RecursionError:
        message = f"{name} cannot be read: it is nested too deeply"
        raise ClaimsError(message) from None
    unknown = sorted(table.keys() - {"suite", "claim"})
    if unknown:
        message = f"{name}: unknown key {glimpse(unknown[0])}; it holds suite and [[claim]] tables"
        raise ClaimsError(message)
    try:
        suite = table["suite"]
        parse_version(suite)
    except (KeyError, ValueError, TypeError):
        message = f'{name}: suite is {glimpse(table.get("suite"))}, needs "major.minor", such as "1.0"'
        raise ClaimsError(message) from None
    if not isinstance(table.get("claim", []), list):
        message = f"{name}: claim is {glimpse(table['claim'])}, needs [[claim]] tables"
        raise ClaimsError(message)
    entries = enumerate(table.get("claim", []), 1)
    return Claims(suite, tuple(claim for i, entry in entries for claim in _claims(entry, f"{name}: claim {i}")))


def _claims(entry: Any, where: str) -> Iterator[Claim]:
    """Yield the claims of one table, whose `cells` is a pattern or a list of them."""
    cells = entry.get("cells") if isinstance(entry, dict) else None
    patterns: Any = [cells] if isinstance(cells, str) else cells
    if not _are_texts(patterns) or entry.keys() - {"cells", "when"}:
        message = (
            f'{where}: is {glimpse(entry)}, needs cells = "family/op/dtypes/layout" and perhaps when = ["feature"]'
        )
        raise ClaimsError(message)
    when = entry.get("when", [])
    if not _are_texts(when):
        message = f"{where}: when is {glimpse(when)}, needs a list of features"
        raise ClaimsError(message)
    for pattern in patterns:
        parts = pattern.split("/")
        form = _FORMS.get(parts[0], _FORM)
        needed = form.count("/") + 1
        if len(parts) != needed:
            message = f"{where}: cells {glimpse(pattern)} has {len(parts)} parts, needs {needed}: {form}"
            raise ClaimsError(message)
        yield Claim(pattern, tuple(when))


def _are_texts(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)
