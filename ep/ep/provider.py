"""A Provider brings one kind of hardware: its devices, and one readable table of what they can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, final

from ep import words
from ep.errors import UnavailableError
from ep.turn import Turn
from ep.uncopied import Uncopied
from ep.vetting import check_devices, check_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from ep.descriptor import Descriptor
    from ep.device import Device
    from ep.implementation import Implementation
    from ep.manifest import Manifest

__all__ = ["Provider"]


class Provider(Uncopied, ABC):
    """One kind of hardware. EP makes it by the hook `ep_provider`, and gives it its `name` and `manifest`.

    implementations : for each descriptor type the implementations, best first: the capability table
    """

    name: str
    manifest: Manifest
    _reason: str | None = None
    _count: int = 0
    _made: dict[int, Device]
    _turn: Turn

    def __new__(cls, *_: Any, **__: Any) -> Self:
        made = super().__new__(cls)
        made._made, made._turn = {}, Turn(f"provider {cls.__name__}")
        return made

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
        if self._reason is None:
            with self._turn.taken():
                self._look()
        self._require()

    @final
    def devices(self) -> tuple[Device, ...]:
        """Return the devices, probing first. The same objects each time, until one is closed.

        Raises UnavailableError; TypeError or ValueError where the provider made what is no device.
        """
        self.probe()
        if not self._is_ready():
            with self._turn.taken():
                self._make()
        return self._opened()

    @final
    def _adopt(self, name: str, manifest: Manifest, turn: Turn) -> None:
        """Take over what the registry knows of this provider."""
        self.name, self.manifest = name, manifest
        self._made, self._turn = {}, turn

    @final
    def _look(self) -> None:
        """Probe in this thread's turn, and keep the answer."""
        if self._reason is None:
            try:
                self._probe()
                self._reason = ""
            except UnavailableError as error:
                if self._turn.refusal:
                    raise
                self._reason = words.message(error)

    @final
    def _require(self) -> None:
        if self._reason:
            message = f"provider {self.name}: {self._reason}"
            raise UnavailableError(message)

    @final
    def _is_ready(self) -> bool:
        """Say whether all devices are there."""
        return len(self._made) >= max(self._count, 1)

    @final
    def _opened(self) -> tuple[Device, ...]:
        made = self._made.copy()
        return tuple(made[index] for index in sorted(made))

    @final
    def _make(self) -> None:
        """Make the devices that are not there, in this thread's turn."""
        if self._is_ready():
            return
        check_table(self.implementations)
        fresh = check_devices(self._devices(), self._made)
        self._count = len(fresh)  # first, so that nobody takes some of them for all
        for index, device in enumerate(fresh):
            if index not in self._made:
                device.provider = self
                device.index = index
                device.name = f"{self.name}:{index}"
                self._made[index] = device

    @final
    def _forget(self, device: Device) -> None:
        # No lock: devices are closed while others are made, and at the end of a process in which a plug-in hangs.
        if self._made.get(device.index) is device:
            self._made.pop(device.index, None)

    @final
    def _after_fork(self) -> None:
        """In a forked child: everything made before refuses, and so does a provider that is not fork-safe."""
        for device in self._opened():
            device._after_fork()
        self._made, self._count = {}, 0
        if not self.manifest.fork_safe:
            self._reason = (
                "cannot be used in a forked child (provider.toml says fork_safe = false); start it with spawn"
            )

    def __repr__(self) -> str:
        return f"<Provider {self.name}>"
