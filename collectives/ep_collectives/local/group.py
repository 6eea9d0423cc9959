"""local_groups: a group for ranks in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep.integers import integer

import ep
from ep_collectives.carrier.timeout import TIMEOUT, seconds
from ep_collectives.local.circle import Circle
from ep_collectives.local.communicator import LocalCommunicator

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LocalGroup", "local_groups"]


class LocalGroup(ep.spi.Group):
    """The place of one rank in a group of this process."""

    def __init__(self, circle: Circle, rank: int) -> None:
        self.rank = rank
        self.size = circle.size
        self._circle = circle

    def join(self, device: ep.Device) -> LocalCommunicator:
        return self.joined(device, LocalCommunicator)

    def joined(self, device: ep.Device, kind: type[LocalCommunicator]) -> LocalCommunicator:
        """Return this rank's communicator, of a class. For carriers that change a part of this one."""
        if not self._circle.joins(self.rank):
            message = f"communicator: rank {self.rank} of this group has joined already; make a group for each rank"
            raise ValueError(message)
        return kind(self._circle, self.rank, device)


def local_groups(size: int, *, timeout: float = TIMEOUT) -> Sequence[ep.spi.Group]:
    """Return a group for each of `size` ranks in this process, for `ep.communicator(device, group)`.

    timeout : seconds that a rank waits for others, and for a share that does not get on, before the communicator is broken

    Ranks may share a device, and their devices may be of different providers. A rank on a synchronous stream keeps its
    thread until all others have come, so that each such rank needs a thread of its own; asynchronous streams of all ranks
    may be fed by one thread. Raises TypeError or ValueError.
    """
    ranks = integer("local_groups: size", size)
    if ranks < 1:
        message = f"local_groups: size is {ranks}, needs at least 1 rank"
        raise ValueError(message)
    return [
        LocalGroup(circle, rank)
        for circle in [Circle(ranks, seconds("local_groups", timeout))]
        for rank in range(ranks)
    ]
