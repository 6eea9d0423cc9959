"""mpi_group: this process's place among those that mpiexec started."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_collectives.carrier.timeout import TIMEOUT, seconds
from ep_collectives.mpi.communicator import MpiCommunicator, address_of
from ep_collectives.mpi.library import at_exit, library
from ep_collectives.mpi.peers import Peers
from ep_collectives.mpi.wire import Wire

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["mpi_group"]

_TICK: Final = 2e-3
_WIRES: Final[dict[int, Wire]] = {}
"""By the handle of MPI's communicator: each is duplicated once."""


class MpiGroup(ep.spi.Group):
    """The place of this process in a group."""

    def __init__(self, peers: Peers) -> None:
        self.rank = peers.rank
        self.size = len(peers.ranks)
        self._peers: Peers | None = peers

    def join(self, device: ep.Device) -> MpiCommunicator:
        peers, self._peers = self._peers, None
        if peers is None:
            message = (
                f"communicator: rank {self.rank} of this group has joined already; make a group for each communicator"
            )
            raise ValueError(message)
        return MpiCommunicator(peers, device)


def mpi_group(comm: Any = None, *, timeout: float = TIMEOUT) -> ep.spi.Group:
    """Return this process's place among the processes of MPI, for `ep.communicator(device, group)`.

    comm    : a communicator of mpi4py, None for all processes: MPI.COMM_WORLD
    timeout : seconds that a rank waits for others, and for messages that do not get on, before the communicator is broken

    All processes of it call it, as often as one another; the k-th calls make one group. The first call waits for all of
    them, because MPI duplicates the communicator, and MPI must allow calls of several threads. Raises UnavailableError without
    mpi4py or MPI, ValueError for a timeout that is none.
    """
    limit = seconds("mpi_group", timeout)
    mpi = library()
    chosen = mpi.COMM_WORLD if comm is None else comm
    wire = _WIRES.get(chosen.handle)
    if wire is None:
        if not _WIRES:
            at_exit(_settle)
        wire = _WIRES[chosen.handle] = Wire(mpi, chosen)
    ranks = tuple(range(wire.size))
    address = address_of(b"", ranks, wire.group_number())
    return MpiGroup(Peers(wire, address, ranks, wire.rank, limit))


def _settle() -> bool:
    """Wait for the collectives under way, leave all communicators, and say whether no rank was lost."""
    communicators = [each for wire in _WIRES.values() for each in [*wire.communicators]]
    for communicator in communicators:
        communicator.close()
    for communicator in communicators:
        peers = communicator.peers
        end = time.monotonic() + 2 * peers.timeout
        while not communicator.is_settled and time.monotonic() < end:
            time.sleep(_TICK)
        if not communicator.is_settled:  # the others must know that MPI is not ended here
            peers.fail(f"rank {peers.rank} ended with collectives under way", [peers.rank], [peers.rank])
    return not _has_lost(_WIRES.values())


def _has_lost(wires: Iterable[Wire]) -> bool:
    for wire in wires:
        wire.pump()
        for communicator in [*wire.communicators]:
            communicator.peers.look()
    return any(wire.has_lost for wire in wires)
