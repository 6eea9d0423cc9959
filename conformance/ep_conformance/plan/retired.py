"""Retired ids: for one minor version of the suite a case is found by the id that it had before, too."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["RETIRED", "Retired", "earlier", "renewed"]


class Retired(NamedTuple):
    """An id that no case has any more.

    id         : which it was
    successor  : the id of the case that tries what it tried
    since      : the suite version without it; waivers, filters and replay files may name it until the next but one minor
    """

    id: str
    successor: str
    since: str


RETIRED: Final[tuple[Retired, ...]] = ()
"""All of them; none so far, since every case of suite 1.0 is in 1.1 by its id."""


def renewed(identity: str) -> str:
    """Return the successor of a retired id; any other id or pattern as it is."""
    return next((each.successor for each in RETIRED if each.id == identity), identity)


def earlier(identity: str) -> list[str]:
    """Return the retired ids whose successor a case is."""
    return [each.id for each in RETIRED if each.successor == identity]
