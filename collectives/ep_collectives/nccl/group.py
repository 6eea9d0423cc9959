"""nccl_group: a rank's place in a group that NCCL, RCCL or oneCCL carries."""

from __future__ import annotations

from functools import partial

from ep.integers import integer

import ep
from ep_collectives.nccl.communicator import NcclCommunicator
from ep_collectives.nccl.library import Library, library

__all__ = ["nccl_group", "nccl_unique_id"]


class NcclGroup(ep.spi.Group):
    """The place of one rank."""

    def __init__(self, opened: Library, rank: int, size: int, unique_id: bytes) -> None:
        self.rank, self.size = rank, size
        self._library, self._unique_id = opened, unique_id
        self._has_joined = False

    def join(self, device: ep.Device) -> NcclCommunicator:
        if self._has_joined:
            message = (
                f"communicator: rank {self.rank} of this group has joined already; make a group for each communicator"
            )
            raise ValueError(message)
        if device.twin.is_opaque:
            message = f"communicator: {device.name} does not tell addresses, which {self._library.flavour} needs"
            raise ep.UnsupportedError(message)
        self._has_joined = True
        make = partial(self._library.joined, self._unique_id, self.rank, self.size)
        return NcclCommunicator(self._library, make, self.rank, self.size, device)


def nccl_unique_id(*, flavour: str = "nccl", path: str = "") -> bytes:
    """Return an id that all ranks of a new group give; one rank makes it, and sends it to the others by other means.

    flavour : "nccl", "rccl" or "oneccl"
    path    : of the library, "" for where the dynamic linker finds it

    Raises ValueError, UnavailableError if the library is not there, DeviceError.
    """
    return library(flavour, path).unique_id()


def nccl_group(rank: int, size: int, unique_id: bytes, *, flavour: str = "nccl", path: str = "") -> ep.spi.Group:
    """Return a rank's place in a group, for `ep.communicator(device, group)`.

    unique_id     : of `nccl_unique_id`, the same at all ranks
    flavour, path : as there

    The first collective waits for all ranks to come. Raises TypeError, ValueError, UnavailableError if the library is not there.
    """
    number, count = integer("nccl_group: rank", rank), integer("nccl_group: size", size)
    if not 0 <= number < count:
        message = f"nccl_group: rank is {number}, needs one from 0 to {count - 1}"
        raise ValueError(message)
    return NcclGroup(library(flavour, path), number, count, bytes(unique_id))
