"""The function of each verb: it calls a method of the provider's stream once the verb has passed the doors.

Also the checks of copies and fills, which come before the doors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.ground.truth import truth
from ep.memory.buffers import check_lengths
from ep.memory.memory import require_memory
from ep.spi.stream import let_host_wait, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep import spi
    from ep.memory.memory import Memory
    from ep.stream.device import Device

    Memories = tuple[Memory, ...]
    Scalars = tuple[Any, ...]
    Run = Callable[[Any, Memories, Scalars], Any]

__all__ = [
    "allocate",
    "call",
    "check_copy",
    "check_fill",
    "check_memory",
    "copy",
    "copy_between",
    "download",
    "fill",
    "free",
    "record",
    "staged_copy",
    "upload",
    "upload_constant",
    "upload_to",
    "wait",
]


def upload(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a host buffer to a memory."""
    twin.copy(memories[0], scalars[0], memories[0].nbytes)


def upload_constant(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a host buffer to a memory; nothing changes the buffer until then."""
    twin.upload_constant(memories[0], scalars[0], memories[0].nbytes)


def upload_to(dst: Memory, view: memoryview, constant: Any) -> Run:
    """Return the upload function of a host buffer. Raises ValueError unless it fits, TypeError for a bad `constant`."""
    dst._require_writable("upload: dst")
    check_lengths("upload", dst.nbytes, view.nbytes)
    return upload_constant if constant is not False and truth("upload: constant", constant) else upload


def download(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a memory to a host buffer."""
    twin.copy(scalars[0], memories[0], memories[0].nbytes)


def check_memory(where: str, memory: Any, device: Device) -> None:
    """Raise TypeError, ClosedError or ValueError unless it is an open memory of the stream's device."""
    require_memory(where, memory)
    if memory.device is not device:
        message = f"{where} is on {memory.device.name}, needs {device.name}; use copy"
        raise ValueError(message)


def check_copy(dst: Any, src: Any, device: Device) -> None:
    """Raise TypeError, ValueError or ClosedError unless a stream of `device` may copy one memory to the other."""
    require_memory("copy: dst", dst)
    require_memory("copy: src", src)
    dst._require_writable("copy: dst")
    check_lengths("copy", dst.nbytes, src.nbytes)
    if dst.device is not device and src.device is not device:
        message = f"copy: dst is on {dst.device.name} and src on {src.device.name}; one must be on {device.name}"
        raise ValueError(message)
    distance = dst._distance_to(src)
    if distance is not None and abs(distance) < dst.nbytes:
        message = f"copy: dst [{dst.offset}:+{dst.nbytes}] and src [{src.offset}:+{src.nbytes}] overlap"
        raise ValueError(message)


def copy_between(dst: Device, src: Device, device: Device) -> Run:
    """Return the function by which a stream of `device` copies between `device` and another one."""
    is_reached = device.can_copy_from(src) if dst is device else device.can_copy_to(dst)
    return copy if is_reached else staged_copy


def check_fill(dst: Memory, pattern: bytes) -> None:
    """Raise ValueError unless a pattern fills a memory."""
    dst._require_writable("fill: dst")
    length = len(pattern)
    if dst.nbytes % length or dst.offset % length:
        message = f"fill: dst at offset {dst.offset} with {dst.nbytes} bytes; both must be multiples of the {length}-byte pattern"
        raise ValueError(message)


def copy(twin: spi.Stream, memories: Memories, _: Scalars) -> None:
    """Copy memory to memory, where the stream's device reaches both."""
    twin.copy(memories[0], memories[1], memories[0].nbytes)


def staged_copy(twin: spi.Stream, memories: Memories, _: Scalars) -> None:
    """Pass the bytes through the host: out of the source in its order, then into the target.

    It calls methods of the providers, not verbs: a worker may get here after the memories were closed, whose bytes are
    kept for it.
    """
    dst, src = memories
    device: Device = twin.ledger.device
    bounce = memoryview(bytearray(dst.nbytes))
    twin.ledger.degrade("copy-between-devices")
    ours_is_source = src.device is device
    other = (dst if ours_is_source else src).device.stream()
    try:
        if ours_is_source:
            twin.copy(bounce, src, src.nbytes)
            settle(twin, None)
            other.twin.copy(dst, bounce, dst.nbytes)
            settle(other.twin, None)
        else:
            settle(twin, None)  # this stream may wait for the work that writes the source
            other.twin.copy(bounce, src, src.nbytes)
            settle(other.twin, None)
            twin.copy(dst, bounce, dst.nbytes)
            settle(twin, None)
    finally:
        other._outlast()
        other._finish()


def fill(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Repeat a pattern over a memory."""
    twin.fill(memories[0], scalars[0])


def record(twin: spi.Stream, _: Memories, scalars: Scalars) -> spi.Event:
    """Place an event."""
    return twin.record(timed=scalars[0])


def wait(twin: spi.Stream, _: Memories, scalars: Scalars) -> None:
    """Hold back later work until an event; the host waits for one that the device cannot wait for."""
    event = scalars[0]
    if twin.can_wait(event):
        twin.wait(event)
    else:
        let_host_wait(twin, event)


def call(twin: spi.Stream, _: Memories, scalars: Scalars) -> None:
    """Call a host function."""
    twin.call(scalars[0])


def allocate(_: spi.Stream, __: Memories, scalars: Scalars) -> Memory:
    """Take memory that later work of the stream may use; the host does it at once."""
    stream, nbytes, kind, inside = scalars
    # The verb touches no bytes, and may need closed memories: from here on only a verb that it interrupts is under way.
    stream._inside = inside
    memory: Memory = stream.device._heap.allocate(nbytes, kind, stream._freed)
    return memory


def free(_: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Leave memory to later allocations of the stream, and to others once the stream is past this point."""
    stream = scalars[0]
    stream.device._heap.pool.free(memories[0]._block, stream._freed)
