"""A provider's device: where memory and streams come from, and what else the hardware can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

from ep.errors import UnsupportedError
from ep.ground.glimpse import glimpse
from ep.layout.device_info import DeviceInfo

if TYPE_CHECKING:
    import ep
    from ep import spi
    from ep.ground.ledger import Ledger
    from ep.layout.memory_kind import MemoryKind
    from ep.spi.communicator import Communicator, Group
    from ep.spi.fault import Fault
    from ep.spi.stream import Stream
    from ep.work.executable import Executable, Node, Slot

__all__ = ["Device"]

_STEPS_BITS: Final = 4  # of the exponent: 2**(4 - 1) lengths from one power of two to the next


class Device(ABC):
    """One device; `ep.Device` holds it as its `twin`. EP has checked all arguments before it calls a method here.

    A lost device stays lost. From then on methods that make or enqueue something raise DeviceLostError, and work under
    way fails. No wait blocks: its events are done, its streams are idle, and synchronising raises the loss. `free`,
    `park`, `unpark` and every `close` release what they still can and raise nothing.

    info          : what the device is
    is_opaque     : True: `address` returns the pointer of a driver object, such as a cl_mem, and no place in memory: no
                    offset may be added to it, and a caller must give the object, not its pointer as a number
    name, index   : "provider:index" and the number, which EP sets before it calls a method
    """

    is_opaque: bool = False
    name: str = "a new device"
    index: int = -1

    def __init__(self, info: DeviceInfo) -> None:
        if not isinstance(info, DeviceInfo):
            message = f"Device: info is {glimpse(info)}, needs an ep.DeviceInfo"
            raise TypeError(message)
        self.info = info

    # What a provider must write.

    @abstractmethod
    def allocate(self, nbytes: int, kind: MemoryKind) -> Any:
        """Return a handle for nbytes > 0 of memory aligned to info.alignment. Raises OutOfMemoryError.

        The pool asks for whole size classes and keeps what comes back; kind is one of info.memory_kinds.
        """

    @abstractmethod
    def free(self, handle: Any, kind: MemoryKind) -> None:
        """Free a handle that allocate returned; no enqueued work touches it.

        Must raise nothing, not even after the device was lost. EP turns an exception into a warning, once a device,
        counts the bytes as freed, and goes on freeing and closing.
        """

    @abstractmethod
    def stream(self, ledger: Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> Stream:
        """Return a new stream over a ledger of EP. Raises UnsupportedError for a mode that the device lacks."""

    # What a provider may write.

    def memory_info(self) -> tuple[int, int]:
        """Return how many bytes the device has, and how many it could still give."""
        message = f"{self.name} does not tell what is free"
        raise UnsupportedError(message)

    @property
    def workspace_nbytes(self) -> int:
        """The bytes that the device's own workers keep allocated, outside of EP's scratch. Default: 0."""
        return 0

    def segment_size(self, nbytes: int) -> int:
        """Return the length of the segments that serve `nbytes` > 0 bytes; a segment's length is mapped to itself.

        Default: 8 lengths from one power of two to the next, at least info.alignment apart, so that a segment serves
        many requests and at most an eighth of it is unused. To have overruns noticed, return nbytes itself.
        """
        step = max(self.info.alignment, 1 << max((nbytes - 1).bit_length() - _STEPS_BITS, 0))
        return -(-nbytes // step) * step

    def park(self, handle: Any, kind: MemoryKind) -> None:
        """Take note that an allocation lies ready in the pool: no enqueued work touches it. Raises nothing."""

    def unpark(self, handle: Any, nbytes: int, kind: MemoryKind) -> None:
        """Take note that an allocation that was parked serves `nbytes` bytes now. Raises nothing."""

    def host(self, handle: Any, nbytes: int) -> memoryview:
        """Return a whole allocation as a flat writable memoryview of bytes. Raises UnsupportedError.

        PINNED and SHARED memory is always reached by the host; the default reaches none.
        """
        del handle, nbytes
        message = f"memory.host: the host does not reach this memory of {self.name}; use stream.download"
        raise UnsupportedError(message)

    def wrap_host(self, address: int, nbytes: int) -> Any:
        """Return a handle for host memory, if kernels reach it."""
        message = f"{self.name} does not reach host memory ({nbytes} bytes at {glimpse(address)}); use stream.upload"
        raise UnsupportedError(message)

    def wrap_memory(self, handle: Any, nbytes: int) -> Any:
        """Return the handle of a foreign allocation of at least nbytes, given natively or as DLPack's data pointer."""
        message = f"{self.name} wraps no memory of others ({nbytes} bytes, {glimpse(handle)}); use stream.upload"
        raise UnsupportedError(message)

    def dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's (device type, device index) of this device's memory."""
        message = f"{self.name} has no DLPack device type; use stream.download"
        raise UnsupportedError(message)

    def address(self, handle: Any) -> int:
        """Return DLPack's data pointer of an allocation: its address, or a driver object's pointer if `is_opaque`."""
        message = f"{self.name} does not reveal where its memory is ({glimpse(handle)}); use stream.download"
        raise UnsupportedError(message)

    def wrap_stream(self, ledger: Ledger, handle: Any) -> Stream:
        """Return a new stream that enqueues into a foreign native queue and does not close it."""
        del ledger
        message = f"{self.name} wraps no stream of others ({glimpse(handle)}); use device.stream()"
        raise UnsupportedError(message)

    def can_copy_from(self, other: spi.Device) -> bool:
        """Say whether its streams copy from memory of another device. Default: of none; bytes pass through the host."""
        del other
        return False

    def can_copy_to(self, other: spi.Device) -> bool:
        """Say whether its streams copy to memory of another device. Default: of none; bytes pass through the host."""
        del other
        return False

    def can_access(self, other: spi.Device) -> bool:
        """Say whether its kernels take memory of another device. Default: of none."""
        del other
        return False

    def communicator(self, device: ep.Device, group: Group) -> Communicator | None:
        """Return this rank's end of a carrier of the provider's own. Default: None, the group's carrier serves it.

        device : EP's view of this one
        """
        del device, group
        return None

    def instantiate(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> Executable | None:
        """Return captured work made ready to run. Default: None, so that EP replays it, node after node."""
        del nodes, slots
        return None

    def inject(self, fault: Fault) -> None:
        """Inject a fault, so that late errors can be tested: the queue itself fails the work.

        The suite's `runtime/late` cases use it in processes of their own and are mandatory where it is there.
        Default: UnsupportedError, and the report says "late errors: untried".
        """
        message = f"{self.name} injects no faults ({fault.kind.value}); its late errors are untried"
        raise UnsupportedError(message)

    @property
    def native_calls(self) -> int | None:
        """How many driver calls this device has made so far; None if it does not count them."""
        return None

    def close(self) -> None:
        """Release what the device itself holds; streams and memories are gone."""
