"""Every case of collectives, in the order in which they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.collective.failure import FAILURES
from ep_conformance.collective.move import moves
from ep_conformance.collective.order import ORDERS
from ep_conformance.collective.program import programs
from ep_conformance.collective.reduction import reductions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.collective.ranks import CollectiveCase

__all__ = ["all_cases"]


def all_cases() -> Iterator[CollectiveCase]:
    """Yield them: reductions, moves, orders, failures, and programs of several collectives."""
    yield from reductions()
    yield from moves()
    yield from ORDERS
    yield from FAILURES
    yield from programs()
