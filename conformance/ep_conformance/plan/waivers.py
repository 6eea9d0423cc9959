"""waivers.toml: known failures of a provider, each with an owner and a day on which the waiver expires."""

from __future__ import annotations

import datetime as dt
import tomllib
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ep_conformance.judge.outcome import Status
from ep_conformance.plan.waiver import Waiver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["WaiversError", "read_waivers"]

_WAIVABLE: Final = (Status.FAIL, Status.CRASH, Status.HANG)
"""The statuses that can be waived. A lost device spoils other cases; a mistrusted or flaky result shows no defect."""

_NEEDED: Final = ("cases", "reason", "owner", "link", "expires")
_KNOWN: Final = frozenset((*_NEEDED, "status", "when", "devices", "drivers"))
_SCHEMES: Final = ("https://", "http://")
_LINK: Final = 'the address of its issue, "https://..."'


class WaiversError(Exception):
    """waivers.toml cannot be used; the message says where and what to write."""


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """Return the waivers in a file, one for each pattern, in the file's order; a file that is not there waives nothing.

    Raises WaiversError for one that is wrong, naming entry, key, what is given and what is needed.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        message = f"{path.name} cannot be read: {error}"
        raise WaiversError(message) from None
    entries = table.get("waiver", [])
    if table.keys() - {"waiver"} or not isinstance(entries, list):
        message = f"{path.name}: holds {', '.join(table)}, needs [[waiver]] tables and nothing else"
        raise WaiversError(message)
    found: dict[tuple[Any, ...], Waiver] = {}
    for number, table_of in enumerate(entries, 1):
        entry = _Entry(f"{path.name}: waiver {number}", table_of)
        for waiver in entry.waivers():
            if found.setdefault((waiver.cases, waiver.when, waiver.devices, waiver.drivers), waiver) is not waiver:
                entry.refuse("cases", "patterns that no entry before it has for the same devices")
    return tuple(found.values())


class _Entry:
    """One table, and where it stands."""

    def __init__(self, name: str, table: Any) -> None:
        self._name = name
        self._table = table
        if not isinstance(table, dict):
            message = f"{name} is {table!r}, needs to be a table with {', '.join(_NEEDED)}"
            raise WaiversError(message)

    def waivers(self) -> Iterator[Waiver]:
        """Yield a waiver for each pattern of `cases`. Raises WaiversError."""
        for key in sorted(self._table.keys() - _KNOWN):
            self.refuse(key, f"to be one of {', '.join(sorted(_KNOWN))}")
        cases = self._table.get("cases")
        patterns = [cases] if isinstance(cases, str) else cases
        if not _are_texts(patterns) or not patterns or any(pattern.split() != [pattern] for pattern in patterns):
            self.refuse(
                "cases", 'a glob over case ids, such as "primitives/softmax/*", or a list of them, without blanks'
            )
        status = self._table.get("status", str(Status.FAIL))
        if status not in [str(each) for each in _WAIVABLE]:
            self.refuse("status", "fail, crash or hang; no other status can be waived")
        if not self._text("link", _LINK).startswith(_SCHEMES):
            self.refuse("link", _LINK)
        expires = self._table.get("expires")
        if not isinstance(expires, dt.date) or isinstance(expires, dt.datetime):
            self.refuse("expires", "a day without quotes, such as 2027-03-01")
        when = self._table.get("when", [])
        if not _are_texts(when):
            self.refuse("when", "a list of features of devices")
        for pattern in patterns:
            yield Waiver(
                cases=pattern,
                reason=self._text("reason", "the defect in words"),
                owner=self._text("owner", "a person or team that answers for it"),
                link=self._table["link"],
                expires=expires,
                status=Status(status),
                when=tuple(when),
                devices=self._text("devices", "a glob over models of devices", "*"),
                drivers=self._text("drivers", "a glob over versions of drivers", "*"),
            )

    def refuse(self, key: str, needed: str) -> NoReturn:
        """Raise WaiversError for the value of a key."""
        given = repr(self._table[key]) if key in self._table else "missing"
        message = f"{self._name}: {key} is {given}, needs {needed}"
        raise WaiversError(message)

    def _text(self, key: str, needed: str, default: str = "") -> str:
        given = self._table.get(key, default)
        if not isinstance(given, str) or not given.strip():
            self.refuse(key, needed)
        return given


def _are_texts(words: Any) -> bool:
    return isinstance(words, list) and all(isinstance(word, str) for word in words)
