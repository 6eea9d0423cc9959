"""The local carrier's table: one implementation serves all collectives that it knows the shares of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import ep
from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv, Send
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast
from ep_collectives.local.kernel import LocalKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_collectives.local.communicator import LocalCommunicator

__all__ = ["TABLE", "Shares", "table_of"]


class Shares(ep.Implementation):
    """Each rank does its share in the memories of all ranks."""

    kernel_type: ClassVar[type[LocalKernel]] = LocalKernel

    def accepts(self, descriptor: Any, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def create(self, descriptor: Any, device: LocalCommunicator, code: Any) -> LocalKernel:  # type: ignore[override]  # see spi.Communicator
        """Return the kernel. Raises UnsupportedError if this rank's device reduces no such elements."""
        del code
        return self.kernel_type(descriptor, device)


def table_of(shares: Shares) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    """Return the table of a carrier with one implementation."""
    kinds = (AllReduce, ReduceScatter, Reduce, AllGather, Broadcast, AllToAll, Send, Recv)
    return dict.fromkeys(kinds, (shares,))


TABLE: Final = table_of(Shares())
