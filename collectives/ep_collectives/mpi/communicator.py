"""The MPI carrier's communicator: one rank, and its peers in other processes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

from ep_collectives.carrier.communicator import CarriedCommunicator
from ep_collectives.carrier.implementation import Carried, table_of
from ep_collectives.mpi.kernel import MpiKernel, perform
from ep_collectives.mpi.peers import Peers
from ep_collectives.mpi.port import Stages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep
    from ep_collectives.carrier.launch import Task

__all__ = ["MpiCommunicator", "address_of"]


class Messages(Carried):
    """Letters and data messages over MPI; each device reduces what its rank is to reduce."""

    kernel_type: ClassVar[type[MpiKernel]] = MpiKernel


class MpiCommunicator(CarriedCommunicator):
    """One rank.

    peers  : the other ranks
    stages : buffers for memory that the host does not see
    """

    table: ClassVar[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = table_of(Messages())

    def __init__(self, peers: Peers, device: ep.Device) -> None:
        super().__init__(peers.rank, len(peers.ranks), device)
        self.peers = peers
        self.stages = Stages(device)
        self._running: dict[object, None] = {}
        peers.wire.communicators.add(self)

    @property
    def error(self) -> ep.CommunicatorError | None:
        self.peers.wire.pump()
        return self.peers.error()

    @property
    def known_error(self) -> ep.CommunicatorError | None:
        return self.peers.error()

    @property
    def living(self) -> tuple[int, ...]:
        peers = self.peers
        peers.wire.pump()
        peers.look()
        closed = peers.closed()
        return tuple([rank for rank in range(self.size) if rank not in closed and rank not in peers.lost])

    def split(self, ranks: Sequence[int]) -> MpiCommunicator:
        chosen, peers = tuple(ranks), self.peers
        places = tuple([peers.ranks[rank] for rank in chosen])
        address = address_of(peers.address, places, self.count(chosen))
        part = Peers(peers.wire, address, places, chosen.index(self.rank), peers.timeout)
        return MpiCommunicator(part, self.device)

    def abort(self, reason: str) -> None:
        self.peers.fail(f"rank {self.rank} aborted{f': {reason}' if reason else ''}", [self.rank])

    def perform(self, tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
        me = object()
        self._running[me] = None
        try:
            perform(tasks, lane)
        finally:
            del self._running[me]

    @property
    def is_settled(self) -> bool:
        """True if no launch is under way, or, of a broken one, none that any stream still does."""
        self.peers.wire.pump()
        return self.is_idle or (self.peers.look() is not None and not self._running)

    def leave(self) -> None:
        self.peers.close()


def address_of(whole: bytes, ranks: tuple[int, ...], count: int) -> bytes:
    """Return the 16 bytes that name the count-th communicator of some ranks of a whole, equal at all of them."""
    return hashlib.blake2b(repr((whole, ranks, count)).encode(), digest_size=16).digest()
