"""An Exported is a tensor of EP offered to other libraries: they read it by DLPack where it is, uncopied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.errors import UnsupportedError
from ep.exchange import dlpack
from ep.exchange.foreign import adopt
from ep.ground.glimpse import glimpse
from ep.ground.truth import truth
from ep.ground.uncopied import Uncopied
from ep.integers import index
from ep.layout.spec import TensorSpec
from ep.memory.memory import Block
from ep.memory.segment import Segment

if TYPE_CHECKING:
    from ep.memory.memory import Memory
    from ep.stream.device import Device
    from ep.stream.event import Event
    from ep.stream.stream import Stream

__all__ = ["Exported", "check_export", "check_tensor"]

_NO_WAIT: Final = -1
_DEFAULT_STREAMS: Final = {dlpack.CUDA: 1, dlpack.ROCM: 0}
_NO_STREAMS: Final = {dlpack.CUDA: (0,), dlpack.ROCM: (1, 2)}


@final
class Exported(Uncopied):
    """A tensor for a consumer, made by `stream.export`: `numpy.from_dlpack(stream.export(memory, spec))`.

    device  : where it lies
    spec    : how it lies in its memory
    event   : the point of the stream from which on its contents are valid

    Its bytes are kept, though the memory may be closed, until this object and all that consumers made of it are gone.
    """

    __slots__ = ("_block", "_dlpack_device", "_kept", "_offset", "device", "event", "spec")

    def __init__(self, memory: Memory, spec: TensorSpec, event: Event) -> None:
        self.device: Device = memory.device
        self.spec = spec
        self.event = event
        self._block = memory._block
        self._offset = memory.offset
        self._kept = (self._block.keep(), self._block)  # as consumers do, which may outlive all else
        self._dlpack_device = self.device.twin.dlpack_device()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's (device type, device index)."""
        return self._dlpack_device

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule, valid in the consumer's order.

        stream       : None: the host waits for `event`, or on CUDA and ROCm the default stream does; -1: neither waits;
                       else the stream that waits: a Stream of EP, or what `device.wrap_stream` takes. See
                       docs/interchange.md
        max_version  : the newest version that the consumer knows; None or (0, x): the capsule is a "dltensor"

        Raises BufferError for another device, a copy, or read-only bytes in a "dltensor"; ValueError for a
        stream that the device type does not have; the error of work that failed.
        """
        self.device._check_fork("__dlpack__")
        if copy is not None and truth("__dlpack__: copy", copy):
            self._refuse("nothing is copied here; copy with stream.copy or stream.download and export that")
        if dl_device is not None and (asked := _lies(dl_device)) != "{}:{}".format(*self._dlpack_device):
            self._refuse(f"DLPack device {asked} was asked for; nothing is copied here; use stream.download")
        versioned = _major(max_version) >= 1
        if self._block.is_read_only and not versioned:
            self._refuse(f"it is read-only, which DLPack says since 1.0; max_version is {glimpse(max_version)}")
        self._order(stream)
        return dlpack.make(self._tensor(), self._kept, versioned=versioned)

    def _lend(self, stream: Stream) -> Memory:
        """Return the bytes as a memory of its own for work of `stream`, a stream of the same device."""
        stream.wait(self.event)
        own = self._block
        block = Block(self.device, own.nbytes, space=own.space, address=own.start, is_read_only=own.is_read_only)
        lent = Segment(own.handle, own.nbytes, own.kind, self._kept)
        return adopt(self.device, block, lent, self._offset, self.spec.nbytes)

    def _tensor(self) -> dlpack.Tensor:
        spec, block = self.spec, self._block
        begin = self._offset + spec.offset * spec.itemsize
        data = self.device.twin.address(block.handle) if spec.size else 0
        if not (self.device.twin.is_opaque and spec.size):
            # Consumers have long ignored the field for the offset, so it is used only where the address allows no sum.
            data, begin = (data + begin if spec.size else 0), 0
        return dlpack.Tensor(self._dlpack_device, data, begin, spec.dtype, spec.shape, spec.strides, block.is_read_only)

    def _order(self, stream: Any) -> None:
        """Let the consumer's stream wait for the event, in the words of the array API standard."""
        kind = self._dlpack_device[0]
        if type(stream) is int and stream == _NO_WAIT:
            return
        if stream is None:
            stream = _DEFAULT_STREAMS.get(kind)
        elif isinstance(stream, int) and stream in _NO_STREAMS.get(kind, ()):
            message = f"__dlpack__: stream {glimpse(stream)} is ambiguous or unknown for DLPack device type {kind}; give the stream's handle"
            raise ValueError(message)
        if stream is None:
            self.event.synchronize()
        elif hasattr(stream, "_submit"):
            stream.wait(self.event)
        else:
            self._wait_in(stream)

    def _wait_in(self, handle: Any) -> None:
        try:
            consumer = self.device._borrow(handle)
        except (TypeError, UnsupportedError) as error:
            message = f"__dlpack__: stream is {glimpse(handle)}, which is no stream of {self.device.name}'s; give None, -1 or a Stream of EP"
            raise ValueError(message) from error
        try:
            consumer.wait(self.event)
        finally:
            consumer._finish()

    def _refuse(self, reason: str) -> NoReturn:
        message = f"__dlpack__: {self}: {reason}"
        raise BufferError(message)

    def __repr__(self) -> str:
        return f"<Exported {self.spec} on {self.device.name}>"


def check_export(memory: Memory, spec: Any) -> None:
    """Raise TypeError or ValueError unless `spec` describes a tensor in `memory`, UnsupportedError if that is hidden."""
    check_tensor("export", memory, spec)
    device = memory.device
    device.twin.dlpack_device()
    if memory._block.nbytes:
        device.twin.address(memory.handle)


def check_tensor(operation: str, memory: Memory, spec: Any) -> None:
    """Raise TypeError or ValueError unless `spec` describes a tensor in `memory`."""
    if not isinstance(spec, TensorSpec):
        message = f"{operation}: spec is {type(spec).__name__}, needs a TensorSpec"
        raise TypeError(message)
    if spec.nbytes > memory.nbytes:
        message = f"{operation}: {spec} needs {spec.nbytes} bytes, the memory has {memory.nbytes}"
        raise ValueError(message)
    if memory.offset % spec.itemsize:
        message = (
            f"{operation}: the memory starts at byte {memory.offset}, needs a multiple of the itemsize {spec.itemsize}"
        )
        raise ValueError(message)


def _major(max_version: Any) -> int:
    if max_version is None:
        return 0
    try:
        major, _ = max_version
        return index(major)
    except Exception:  # noqa: BLE001 - unpacking is the pair's own code
        message = f"__dlpack__: max_version is {glimpse(max_version)}, needs (major, minor) or None"
        raise TypeError(message) from None


def _lies(dl_device: Any) -> str:
    try:
        kind, place = dl_device
        return f"{index(kind)}:{index(place)}"
    except Exception:  # noqa: BLE001 - as above
        message = f"__dlpack__: dl_device is {glimpse(dl_device)}, needs (device type, index) or None"
        raise TypeError(message) from None
