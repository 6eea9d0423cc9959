"""Barrier: what is enqueued behind it begins after every rank's stream has come to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ep import Collective, CollectiveRoles, Roles, Stage
from ep_collectives.descriptors.exchange import AllToAll

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Barrier"]


class Barrier(Collective):
    """No operands: `Barrier().on(communicator)(stream)`."""

    __slots__ = ()

    family: ClassVar[str] = "barrier"
    roles: ClassVar[Roles] = CollectiveRoles()

    def __init__(self) -> None:
        self._freeze("-", ())

    def lower(self) -> Sequence[Stage]:
        """Return an exchange of nothing: the ranks meet all the same."""
        return (Stage(AllToAll(called=self.family)),)
