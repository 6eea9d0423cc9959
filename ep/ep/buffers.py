"""Host buffers as flat memoryviews of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Buffer

    class Array(Protocol):
        """A NumPy array, which says that it is a buffer from Python 3.12 on only."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...

    HostBuffer: TypeAlias = Buffer | Array

__all__ = ["view_of"]


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
