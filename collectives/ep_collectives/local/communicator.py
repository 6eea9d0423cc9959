"""The local carrier's communicator: one rank of a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ep_collectives.carrier.communicator import CarriedCommunicator
from ep_collectives.local.implementation import TABLE
from ep_collectives.local.kernel import perform
from ep_collectives.local.transport import Streams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep
    from ep_collectives.carrier.launch import Task
    from ep_collectives.local.circle import Circle

__all__ = ["LocalCommunicator"]


class LocalCommunicator(CarriedCommunicator):
    """One rank of a circle.

    streams : of this rank on other ranks' devices
    """

    table: ClassVar[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = TABLE

    def __init__(self, circle: Circle, rank: int, device: ep.Device) -> None:
        super().__init__(rank, circle.size, device)
        self.circle = circle
        self.streams = Streams()

    @property
    def error(self) -> ep.CommunicatorError | None:
        return self.circle.error(self.rank)

    @property
    def living(self) -> tuple[int, ...]:
        return tuple([rank for rank in self._all if rank not in self.circle.closed and rank not in self.circle.lost])

    def split(self, ranks: Sequence[int]) -> LocalCommunicator:
        chosen = tuple(ranks)
        return type(self)(self.circle.part(chosen, self.count(chosen)), chosen.index(self.rank), self.device)

    def abort(self, reason: str) -> None:
        self.circle.fail(f"rank {self.rank} aborted{f': {reason}' if reason else ''}", [self.rank])

    def perform(self, tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
        perform(tasks, lane)

    def leave(self) -> None:
        self.circle.closed[self.rank] = None
