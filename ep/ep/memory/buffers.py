"""Host buffers as flat memoryviews of bytes; buffers that copies under way still need are kept alive."""

from __future__ import annotations

import functools
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse, told
from ep.locks import drop, first

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from typing_extensions import Buffer

    from ep.stream.event import Event

    class Array(Protocol):
        """A NumPy array, which says that it is a buffer from Python 3.12 on only."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    HostBuffer: TypeAlias = Buffer | Array

__all__ = ["PATTERN_LENGTHS", "HeldBuffers", "check_lengths", "pattern_of", "refuse_mask", "view_of"]

PATTERN_LENGTHS: Final = (1, 2, 4, 8, 16)

_BATCH: Final = 16

# Of a memoryview: the native numbers, and bytes that stand for whatever the caller knows.
_OTHER_ORDERS: Final = (">", "!") if sys.byteorder == "little" else ("<",)
_PREFIXES: Final = ("", "@", "=", "<" if sys.byteorder == "little" else ">")
_CODES: Final = ("c", *"?bBhHiIlLqQnNefdg", "Zf", "Zd", "Zg")
_NUMBERS: Final = frozenset(prefix + code for prefix in _PREFIXES for code in _CODES)


def view_of(buffer: HostBuffer, argument: str, *, writable: bool) -> memoryview:
    """Return a host buffer as a flat memoryview of bytes.

    argument : "operation: argument", for the message

    Raises TypeError for an object that is no buffer. Raises ValueError for a buffer that is not contiguous, not
    writable or masked, and for one whose elements are neither bytes nor numbers in this machine's byte order.
    """
    try:
        view = memoryview(buffer)  # type: ignore[arg-type]  # an array is a buffer, too
    except (TypeError, ValueError, BufferError):
        # NumPy exports its own dtypes only; the bytes of others (bfloat16, float8) are reached as uint8.
        view = _bytes_of_array(buffer, argument)
    if not _is_plain(type(view.obj), view.format):
        if view.format not in _NUMBERS:
            _refuse_format(view, argument)
        refuse_mask(view.obj, argument)
    if not view.c_contiguous:
        message = f"{argument} is not contiguous (strides {view.strides}); give a contiguous copy"
        raise ValueError(message)
    if writable and view.readonly:
        message = f"{argument} is read-only; give a buffer that can be written"
        raise ValueError(message)
    return view.cast("B") if view.nbytes else memoryview(bytearray())


@functools.lru_cache(maxsize=256)
def _is_plain(kind: type, form: str) -> bool:
    """Say whether buffers of a class hold numbers in this format, without a mask; a right buffer costs one look-up."""
    return form in _NUMBERS and not hasattr(kind, "mask")


def refuse_mask(obj: object, where: str) -> None:
    """Raise ValueError for a masked array: its bytes do not tell which elements count."""
    if hasattr(obj, "mask"):
        message = f"{where} has a mask, which tensors of EP have not; fill it, as numpy.ma.filled does"
        raise ValueError(message)


def _bytes_of_array(buffer: object, argument: str) -> memoryview:
    numpy = sys.modules.get("numpy")  # without it there is no array
    if numpy is None or not issubclass(type(buffer), numpy.ndarray):
        message = f"{argument} is {type(buffer).__name__}, needs a host buffer: bytes, a bytearray or a NumPy array; make an array of it"
        raise TypeError(message) from None
    array: Any = buffer
    if array.dtype.name not in DTYPES:
        message = f"{argument} has element type {told(array.dtype)}, whose bytes are no numbers of EP; give array.view('uint8') if you mean them"
        raise ValueError(message) from None
    if not array.flags.c_contiguous:
        message = f"{argument} is not contiguous; give a contiguous copy"
        raise ValueError(message)
    refuse_mask(array, argument)
    return memoryview(array.reshape(-1).view("uint8"))


def _refuse_format(view: memoryview, argument: str) -> NoReturn:
    said = glimpse(view.format)
    if view.format[:1] in _OTHER_ORDERS:
        message = f"{argument} has the byte order of other machines (format {said}); give array.astype(array.dtype.newbyteorder('='))"
    else:
        message = f"{argument} has elements that are no numbers (format {said}); give an array of numbers, or memoryview(...).cast('B') if you mean its bytes"
    raise ValueError(message)


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
    view = pattern if type(pattern) is bytes else view_of(pattern, "fill: pattern", writable=False)
    if len(view) not in PATTERN_LENGTHS:
        message = f"fill: the pattern has {len(view)} bytes; it needs 1, 2, 4, 8 or 16"
        raise ValueError(message)
    return bytes(view)


class HeldBuffers:
    """The host buffers of one stream's copies, each with the number of its enqueue, kept until these are seen done."""

    __slots__ = ("_fences", "_views")

    def __init__(self) -> None:
        self._views: deque[tuple[int, memoryview]] = deque()
        self._fences: deque[tuple[int, Event]] = deque()

    def __len__(self) -> int:
        return len(self._views)

    def add(self, view: memoryview, number: int, fence: Callable[[], Event | None]) -> None:
        """Keep the buffer of an enqueue. `fence()` gives an event after all enqueued work, None if that is done."""
        self._views.append((number, view))
        if not len(self._views) % _BATCH:
            event = fence()
            if event is None:
                self.release(number)
            else:
                self._fences.append((number, event))
        while (fence_of := first(self._fences)) is not None and fence_of[1].is_done:
            self.release(fence_of[0])
            drop(self._fences, fence_of)

    def release(self, number: int) -> None:
        """Let go of the buffers of all enqueues up to a number, which are done."""
        views = self._views
        while (held := first(views)) is not None and held[0] <= number:
            drop(views, held)
