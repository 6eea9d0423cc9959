"""A Provider brings one kind of hardware: its devices, and one readable table of what they can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from ep.errors import UnavailableError
from ep.ground import words
from ep.ground.turn import Turn
from ep.ground.uncopied import Uncopied
from ep.plugin.vetting import check_devices, check_table
from ep.stream.device import Device
from ep.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep import spi
    from ep.plugin.manifest import Manifest
    from ep.work.descriptor import Descriptor
    from ep.work.implementation import Implementation

__all__ = ["Provider"]


@final
class Provider(Uncopied):
    """One kind of hardware.

    twin      : what the hook `ep_provider` returned
    name      : of its entry point
    manifest  : its provider.toml
    """

    def __init__(self, twin: spi.Provider, manifest: Manifest, turn: Turn | None = None) -> None:
        self.twin = twin
        self.name = manifest.name
        self.manifest = manifest
        self._turn = turn or Turn(f"provider {manifest.name}")
        self._reason: str | None = None
        self._count = 0
        self._made: dict[int, Device] = {}
        self._device_type: type[Device] = Device
        self._stream_type: type[Stream] = Stream

    @property
    def implementations(self) -> Mapping[type[Descriptor], tuple[Implementation, ...]]:
        """The capability table: descriptor type -> implementations, best first."""
        return self.twin.implementations

    def probe(self) -> None:
        """Look for the hardware, once a process. Raises UnavailableError with the reason, each time it is asked."""
        if self._reason is None:
            with self._turn.taken():
                self._look()
        self._require()

    def devices(self) -> tuple[Device, ...]:
        """Return the devices, probing first. The same objects each time, until one is closed.

        Raises UnavailableError; TypeError or ValueError if the provider made invalid devices.
        """
        self.probe()
        if not self._is_ready():
            with self._turn.taken():
                self._make()
        return self._opened()

    def _look(self) -> None:
        """Probe in this thread's turn, and keep the answer."""
        if self._reason is None:
            try:
                self.twin.probe()
                self._reason = ""
            except UnavailableError as error:
                if self._turn.refusal:
                    raise
                self._reason = words.message(error)

    def _require(self) -> None:
        if self._reason:
            message = f"provider {self.name}: {self._reason}"
            raise UnavailableError(message)

    def _is_ready(self) -> bool:
        """Say whether all devices are there."""
        return len(self._made) >= max(self._count, 1)

    def _opened(self) -> tuple[Device, ...]:
        made = self._made.copy()
        return tuple(made[index] for index in sorted(made))

    def _make(self) -> None:
        """Make the missing devices, in this thread's turn."""
        if self._is_ready():
            return
        check_table(self.implementations)
        fresh = check_devices(self.twin.devices(), {index: device.twin for index, device in self._made.items()})
        self._count = len(fresh)  # first, so that no thread takes some of them for all
        for index, twin in enumerate(fresh):
            if index not in self._made:
                self._made[index] = self._device_type(self, index, twin)

    def _forget(self, device: Device) -> None:
        # No lock: devices are closed while others are made, and at the end of a process in which a plug-in hangs.
        if self._made.get(device.index) is device:
            self._made.pop(device.index, None)

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
