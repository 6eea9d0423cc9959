"""The globs of `--filter`: one text with spaces between them, which no id has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.collective import ranks_of
from ep_conformance.plan.retired import renewed

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["joined", "require_one_run"]


def joined(patterns: Iterable[str]) -> str | None:
    """Return all globs in one text, retired ids as their successors; None for none."""
    given = [*patterns]
    return " ".join(renewed(glob) for pattern in given for glob in pattern.split()) if given else None


def require_one_run(pattern: str | None) -> None:
    """Raise ValueError if no run has all that a pattern chooses: collectives of each number of ranks have one of their own."""
    if len({ranks_of(glob) for glob in (pattern or "").split()}) > 1:
        message = f"{pattern!r}: collectives of each number of ranks take a run of their own; leave out the others"
        raise ValueError(message)
