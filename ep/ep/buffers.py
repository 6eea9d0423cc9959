"""Host buffers as flat memoryviews of bytes, and those that copies under way still need."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from typing_extensions import Buffer

    from ep.event import Event

    class Array(Protocol):
        """A NumPy array, which says that it is a buffer from Python 3.12 on only."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    HostBuffer: TypeAlias = Buffer | Array

__all__ = ["PATTERN_LENGTHS", "HeldBuffers", "check_lengths", "pattern_of", "view_of"]

PATTERN_LENGTHS: Final = (1, 2, 4, 8, 16)

_BATCH: Final = 16


def view_of(buffer: HostBuffer, argument: str, *, writable: bool) -> memoryview:
    """Return a host buffer as a flat memoryview of bytes.

    argument : "operation: argument", for the message

    Raises TypeError for what is no buffer, ValueError for one that is not contiguous or not writable.
    """
    try:
        view = memoryview(buffer)  # type: ignore[arg-type]  # an array is a buffer, too
    except (TypeError, ValueError, BufferError):
        # NumPy exports its own dtypes only; the bytes of others (bfloat16, float8) are reached as uint8.
        view = _bytes_of_array(buffer, argument)
    if not view.c_contiguous:
        message = f"{argument} is not contiguous (strides {view.strides}); give a contiguous copy"
        raise ValueError(message)
    if writable and view.readonly:
        message = f"{argument} is read-only; give a buffer that can be written"
        raise ValueError(message)
    return view.cast("B") if view.nbytes else memoryview(bytearray())


def _bytes_of_array(buffer: object, argument: str) -> memoryview:
    import_view = getattr(buffer, "view", None)
    if hasattr(buffer, "__array_interface__") and callable(import_view):
        if not buffer.flags.c_contiguous:  # type: ignore[attr-defined]
            message = f"{argument} is not contiguous; give a contiguous copy"
            raise ValueError(message)
        return memoryview(buffer.reshape(-1).view("uint8"))  # type: ignore[attr-defined]
    message = f"{argument} is {type(buffer).__name__}, needs a host buffer: bytes, a bytearray or a NumPy array"
    raise TypeError(message) from None


def check_lengths(operation: str, dst: int, src: int) -> None:
    """Raise ValueError unless both sides of a copy have as many bytes."""
    if dst != src:
        message = f"{operation}: dst has {dst} bytes and src has {src}; take a view of the longer, such as memory[:{min(dst, src)}]"
        raise ValueError(message)


def pattern_of(pattern: bytes) -> bytes:
    """Return the pattern of a fill. Raises TypeError unless it is bytes, ValueError for a length that is not offered."""
    if not isinstance(pattern, bytes | bytearray | memoryview):
        message = f"fill: the pattern is {type(pattern).__name__}, needs bytes, such as (0).to_bytes(4, 'little')"
        raise TypeError(message)
    pattern = bytes(pattern)
    if len(pattern) not in PATTERN_LENGTHS:
        message = f"fill: the pattern has {len(pattern)} bytes; it needs 1, 2, 4, 8 or 16"
        raise ValueError(message)
    return pattern


class HeldBuffers:
    """The host buffers of one stream's copies, each with the number of its enqueue, kept until these are seen done."""

    __slots__ = ("_fences", "_views")

    def __init__(self) -> None:
        self._views: deque[tuple[int, memoryview]] = deque()
        self._fences: deque[tuple[int, Event]] = deque()

    def __len__(self) -> int:
        return len(self._views)

    def add(self, view: memoryview, number: int, fence: Callable[[], Event | None]) -> None:
        """Keep the buffer of an enqueue; `fence()` gives an event after all that was enqueued, None if that is done already."""
        self._views.append((number, view))
        if not len(self._views) % _BATCH:
            event = fence()
            if event is None:
                self.release(number)
            else:
                self._fences.append((number, event))
        with suppress(IndexError):  # whoever comes in meanwhile releases the same
            while self._fences and self._fences[0][1].is_done:
                self.release(self._fences.popleft()[0])

    def release(self, number: int) -> None:
        """Let go of the buffers of all enqueues up to a number, which are done."""
        views = self._views
        while views and views[0][0] <= number:
            views.popleft()
