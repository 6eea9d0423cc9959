"""A Provider brings one kind of hardware: its devices, and one readable table of what they can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, final

from ep.errors import UnavailableError
from ep.locks import ForkLock
from ep.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep.descriptor import Descriptor
    from ep.device import Device
    from ep.implementation import Implementation
    from ep.manifest import Manifest

__all__ = ["LOADING", "Provider"]

LOADING = ForkLock()
"""Held while a plug-in is loaded, probed or asked for its devices; reentrant, because a provider may use another."""


class Provider(Uncopied, ABC):
    """One kind of hardware. EP makes it by the hook `ep_provider`, and gives it its `name` and `manifest`.

    implementations : for each descriptor type the implementations, best first: the capability table
    """

    name: str
    manifest: Manifest
    _reason: str | None = None
    _made: tuple[Device | None, ...] = ()

    @property
    @abstractmethod
    def implementations(self) -> Mapping[type[Descriptor], tuple[Implementation, ...]]:
        """The capability table: descriptor type -> implementations, best first. Built once; read, not changed."""

    @abstractmethod
    def _probe(self) -> None:
        """Import the vendor's library and look for hardware. Raises UnavailableError with the reason.

        Called once a process: what it raises is the answer from then on.
        """

    @abstractmethod
    def _devices(self) -> Sequence[Device]:
        """Return new, unopened-for-users device objects in a stable order; called after a probe that succeeded."""

    @final
    def probe(self) -> None:
        """Look for the hardware, once a process. Raises UnavailableError with the reason, each time it is asked."""
        with LOADING:
            if self._reason is None:
                try:
                    self._probe()
                    self._reason = ""
                except UnavailableError as error:
                    self._reason = str(error)
        if self._reason:
            message = f"provider {self.name}: {self._reason}"
            raise UnavailableError(message)

    @final
    def devices(self) -> tuple[Device, ...]:
        """Return the devices, probing first. The same objects each time, until one is closed.

        Raises UnavailableError.
        """
        self.probe()
        with LOADING:
            if not self._made or None in self._made:
                self._make()
            return self._opened()

    @final
    def _opened(self) -> tuple[Device, ...]:
        return tuple(device for device in self._made if device is not None)

    @final
    def _make(self) -> None:
        fresh = list(self._devices())
        made = [*self._made, *[None] * (len(fresh) - len(self._made))]
        for index, device in enumerate(fresh):
            if made[index] is None:
                device.provider = self
                device.index = index
                device.name = f"{self.name}:{index}"
                made[index] = device
        self._made = tuple(made)

    @final
    def _forget(self, device: Device) -> None:
        with LOADING:
            self._made = tuple(None if have is device else have for have in self._made)

    @final
    def _after_fork(self) -> None:
        """In a forked child: everything made before refuses, and so does a provider that is not fork-safe."""
        for device in self._opened():
            device._after_fork()
        self._made = ()
        if not self.manifest.fork_safe:
            self._reason = (
                "cannot be used in a forked child (provider.toml says fork_safe = false); start it with spawn"
            )

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"
