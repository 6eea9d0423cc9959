"""What each verb of a stream runs once it has passed the door: the provider's twin, or a default in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ep.event import Event
    from ep.memory import Memory
    from ep.stream import Stream

    Memories = tuple[Memory, ...]
    Scalars = tuple[Any, ...]

__all__ = [
    "allocate",
    "call",
    "copy",
    "download",
    "fill",
    "free",
    "let_host_wait",
    "record",
    "staged_copy",
    "upload",
    "wait",
]


def upload(stream: Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a host buffer to a memory."""
    stream._copy(memories[0], scalars[0], memories[0].nbytes)


def download(stream: Stream, memories: Memories, scalars: Scalars) -> None:
    """Copy a memory to a host buffer."""
    stream._copy(scalars[0], memories[0], memories[0].nbytes)


def copy(stream: Stream, memories: Memories, _: Scalars) -> None:
    """Copy memory to memory, where the stream's device reaches both."""
    stream._copy(memories[0], memories[1], memories[0].nbytes)


def staged_copy(stream: Stream, memories: Memories, _: Scalars) -> None:
    """Pass the bytes through the host: out of the source in its order, then into the target.

    By twins, not by verbs: a worker may get here when the memories have been closed, which are kept for it.
    """
    dst, src = memories
    bounce = memoryview(bytearray(dst.nbytes))
    stream.device._degrade("copy-between-devices")
    ours_is_source = src.device is stream.device
    other = (dst if ours_is_source else src).device.stream()
    try:
        if ours_is_source:
            stream._copy(bounce, src, src.nbytes)
            stream._wait_idle(None)
            other._copy(dst, bounce, dst.nbytes)
            other._wait_idle(None)
        else:
            stream._wait_idle(None)  # what writes the source may be what this stream waits for
            other._copy(bounce, src, src.nbytes)
            other._wait_idle(None)
            stream._copy(dst, bounce, dst.nbytes)
            stream._wait_idle(None)
    finally:
        other._outlast()
        other._finish()


def fill(stream: Stream, memories: Memories, scalars: Scalars) -> None:
    """Repeat a pattern over a memory."""
    stream._fill(memories[0], scalars[0])


def record(stream: Stream, _: Memories, scalars: Scalars) -> Event:
    """Place an event."""
    return stream._record(timed=scalars[0])


def wait(stream: Stream, _: Memories, scalars: Scalars) -> None:
    """Hold back later work until an event; the host waits for one that the device cannot wait for."""
    event = scalars[0]
    if stream._can_wait(event):
        stream._wait(event)
    else:
        let_host_wait(stream, event)


def let_host_wait(stream: Stream, event: Event) -> None:
    """Wait in place of the device: degraded, unless the stream is synchronous and all of its waits are the host's."""
    if not stream.is_synchronous:
        stream.device._degrade("wait")
    event._wait_done()


def call(stream: Stream, _: Memories, scalars: Scalars) -> None:
    """Call a host function."""
    stream._call(scalars[0])


def allocate(stream: Stream, _: Memories, scalars: Scalars) -> Memory:
    """Take memory that later work of the stream may use; the host does it at once."""
    nbytes, kind, inside = scalars
    # The verb touches no bytes, and may need those that were closed: from here on only one that it interrupted is under way.
    stream._inside = inside
    return stream.device._allocate_for(stream._freed, nbytes, kind)


def free(stream: Stream, memories: Memories, _: Scalars) -> None:
    """Leave memory to later allocations of the stream, and to others once the stream is past this point."""
    stream.device._pool.free(memories[0]._block, stream._freed)
