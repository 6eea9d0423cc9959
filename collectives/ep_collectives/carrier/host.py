"""What the host sees of a device's memory, and when a stream's work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.errors import UnsupportedError
from ep.spi.stream import settle

if TYPE_CHECKING:
    import ep

__all__ = ["finish", "host_view", "raise_failure"]


def host_view(memory: ep.Memory) -> Any:
    """Return the bytes of a memory as the host sees them, None where it does not."""
    try:
        view = memory.device.twin.host(memory.handle, memory._block.nbytes)
    except UnsupportedError:
        return None
    return view[memory.offset : memory.offset + memory.nbytes]


def finish(stream: ep.spi.Stream) -> None:
    """Wait for a stream's work. Raises the error of what failed, also where the stream would only report it."""
    if not stream.is_synchronous:
        settle(stream, None)
    raise_failure(stream)


def raise_failure(stream: ep.spi.Stream) -> None:
    """Raise the error of work that failed, if any did."""
    failure = stream.ledger._failure
    if failure.is_of_work and (error := failure.take()) is not None:
        raise error
