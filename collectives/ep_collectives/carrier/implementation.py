"""A carrier's table: one implementation serves all collectives that it has kernels for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv, Send
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Carried", "table_of"]


class Carried(ep.Implementation):
    """Every collective has a kernel of one class.

    kernel_type : called with the collective and the carrier's communicator
    """

    kernel_type: ClassVar[type[Any]]

    def accepts(self, descriptor: Any, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def create(self, descriptor: Any, device: Any, code: Any) -> ep.Kernel:
        """Return the kernel; `device` is the communicator. Raises UnsupportedError if this rank's device reduces no such elements."""
        del code
        kernel: ep.Kernel = self.kernel_type(descriptor, device)
        return kernel


def table_of(implementation: ep.Implementation) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    """Return the table of a carrier with one implementation."""
    kinds = (AllReduce, ReduceScatter, Reduce, AllGather, Broadcast, AllToAll, Send, Recv)
    return dict.fromkeys(kinds, (implementation,))
