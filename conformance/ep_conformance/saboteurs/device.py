"""The honest device: its handles are objects that hold memory of the CPU's device."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

from ep_collectives.local.communicator import LocalCommunicator
from ep_collectives.local.group import LocalGroup

import ep

if TYPE_CHECKING:
    from ep.work.executable import Executable, Node, Slot

    from ep_conformance.saboteurs.event import HonestEvent
    from ep_conformance.saboteurs.graph import HonestGraph
    from ep_conformance.saboteurs.stream import HonestStream

__all__ = ["Handle", "HonestDevice"]

_FREED: Final = b"\xdd"
_MOST_OVERWRITTEN: Final = 4 << 20


class Handle:
    """An opaque allocation; `bytes_at` is what a driver would do with it, `kind` says whether the host may do so, too."""

    __slots__ = ("_memory", "kind")

    def __init__(self, memory: ep.Memory, kind: ep.MemoryKind) -> None:
        self._memory = memory
        self.kind = kind

    @property
    def nbytes(self) -> int:
        """How long it is."""
        return self._memory.nbytes

    def bytes_at(self, offset: int, nbytes: int) -> ep.Memory:
        """Return the host's bytes behind a part of the allocation."""
        return self._memory[offset : offset + nbytes]

    def free(self, stream: ep.Stream) -> None:
        """Overwrite the bytes, so that a late reader is noticed, and give them back."""
        if not stream.is_closed:  # at the exit streams go first, those of the CPU as well
            stream.fill(self._memory[: min(self._memory.nbytes, _MOST_OVERWRITTEN)], _FREED)
        self._memory.close()


class HonestDevice(ep.spi.Device):
    """An asynchronous device; no host address leads to its memory but to that which is pinned or shared."""

    carrier_type: ClassVar[type[LocalCommunicator]] = LocalCommunicator

    def __init__(
        self,
        cpu: ep.Device,
        stream_type: type[HonestStream],
        event_type: type[HonestEvent],
        graph_type: type[HonestGraph],
    ) -> None:
        features = (cpu.info.features - {"host-memory"}) | {"cpu"}
        super().__init__(cpu.info._replace(name=f"threads over {cpu.info.name}", vendor="EP", features=features))
        self.cpu = cpu
        self._stream_type = stream_type
        self._event_type = event_type
        self._graph_type = graph_type
        self._cleaner = cpu.stream()
        self._calls = itertools.count()
        self._called = 0
        self._given = 0
        self._faults: dict[str, int] = {}  # for a kind of work which one from here on fails
        self.is_lost = False

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Handle:
        self.require_there()
        self.count_call()
        handle = Handle(self.cpu.allocate(nbytes), kind)
        self._given += nbytes
        return handle

    def free(self, handle: Handle, kind: ep.MemoryKind) -> None:
        del kind
        self._given -= handle.nbytes
        handle.free(self._cleaner)

    def memory_info(self) -> tuple[int, int]:
        return self.info.memory, self.info.memory - self._given

    def host(self, handle: Handle, nbytes: int) -> memoryview:
        if handle.kind is ep.MemoryKind.DEVICE:
            return super().host(handle, nbytes)
        return handle.bytes_at(0, nbytes).host()

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> HonestStream:
        self.require_there()
        if synchronous:
            message = f"{self.name}: streams are asynchronous only; ask for synchronous=False or None"
            raise ep.UnsupportedError(message)
        return self._stream_type(ledger, self, self._event_type, seed=priority, is_timed=timed)

    def communicator(self, device: ep.Device, group: ep.spi.Group) -> LocalCommunicator | None:
        return group.joined(device, self.carrier_type) if isinstance(group, LocalGroup) else None

    def instantiate(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> Executable:
        return self._graph_type(nodes, slots)

    def can_copy_from(self, other: ep.spi.Device) -> bool:
        return isinstance(other, HonestDevice) and other.cpu is self.cpu

    def can_copy_to(self, other: ep.spi.Device) -> bool:
        return self.can_copy_from(other)

    def inject(self, fault: ep.spi.Fault) -> None:
        if fault.kind is ep.spi.FaultKind.LOSS:
            self.is_lost = True
        else:
            self._faults[fault.kind.value] = fault.nth

    def strikes(self, kind: str) -> bool:
        """Count one piece of work of a kind, and say whether it is the one that fails."""
        left = self._faults.get(kind, 0)
        self._faults[kind] = max(left - 1, 0)
        return left == 1

    def fail(self, kind: str) -> NoReturn:
        """Raise the error of work that fails on request."""
        message = f"the {kind} fails on request"
        raise ep.DeviceError(message, provider="honest", call="work", code="injected")

    def require_there(self) -> None:
        """Raise DeviceLostError if the device is lost."""
        if self.is_lost:
            raise self.lost_error()

    def lost_error(self) -> ep.DeviceLostError:
        """Return the error of a device that is lost."""
        return ep.DeviceLostError(f"{self.name} is lost, as was asked for", provider="honest", call="work", code="lost")

    def count_call(self) -> None:
        """Count one call of the driver that there would be."""
        self._called = next(self._calls) + 1

    @property
    def native_calls(self) -> int:
        return self._called

    def close(self) -> None:
        self._cleaner.close()
