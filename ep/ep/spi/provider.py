"""A provider: one kind of hardware, its devices, and one readable table of what they can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep.spi.device import Device
    from ep.work.descriptor import Descriptor
    from ep.work.implementation import Implementation

__all__ = ["Provider"]


class Provider(ABC):
    """One kind of hardware, as the hook `ep_provider` returns it; `ep.Provider` holds it as its `twin`.

    implementations : for each descriptor type the implementations, best first: the capability table
    """

    # What a provider must write.

    @property
    @abstractmethod
    def implementations(self) -> Mapping[type[Descriptor], tuple[Implementation, ...]]:
        """The capability table: descriptor type -> implementations, best first. Built once; read, not changed."""

    @abstractmethod
    def probe(self) -> None:
        """Import the vendor's library and look for hardware. Raises UnavailableError with the reason.

        Called once a process: its exception is kept as the answer.
        """

    @abstractmethod
    def devices(self) -> Sequence[Device]:
        """Return new device objects in a stable order; called after a probe that succeeded."""

    # What a provider may write.

    def advice(self) -> Sequence[str]:
        """Return what would serve the devices better on this machine: a sentence each, with the cure, for `ep doctor`.

        Called after a probe that succeeded. Default: none.
        """
        return ()
