"""What each verb of a stream runs once it has passed the door: a method of the provider's stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.spi.stream import let_host_wait, settle

if TYPE_CHECKING:
    from ep import spi
    from ep.device import Device
    from ep.memory import Memory

    Memories = tuple[Memory, ...]
    Scalars = tuple[Any, ...]

__all__ = ["allocate", "call", "copy", "download", "fill", "free", "record", "staged_copy", "upload", "wait"]


def upload(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a host buffer to a memory."""
    twin.copy(memories[0], scalars[0], memories[0].nbytes)


def download(twin: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a memory to a host buffer."""
    twin.copy(scalars[0], memories[0], memories[0].nbytes)


def copy(twin: spi.Stream, memories: Memories, _: Scalars) -> None:
    """Copy memory to memory, where the stream's device reaches both."""
    twin.copy(memories[0], memories[1], memories[0].nbytes)


def staged_copy(twin: spi.Stream, memories: Memories, _: Scalars) -> None:
    """Pass the bytes through the host: out of the source in its order, then into the target.

    By methods of the providers, not by verbs: a worker may get here when the memories have been closed, which are kept
    for it.
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
            settle(twin, None)  # what writes the source may be what this stream waits for
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
    # The verb touches no bytes, and may need those that were closed: from here on only one that it interrupted is under way.
    stream._inside = inside
    memory: Memory = stream.device._allocate_for(stream._freed, nbytes, kind)
    return memory


def free(_: spi.Stream, memories: Memories, scalars: Scalars) -> None:
    """Leave memory to later allocations of the stream, and to others once the stream is past this point."""
    stream = scalars[0]
    stream.device._pool.free(memories[0]._block, stream._freed)
