"""The wire: frames of a JSON array and bytes, over a socket. Both processes use it."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Buffer = bytes | bytearray | memoryview

_LENGTHS = struct.Struct("<IQ")  # of the array's text, and of the bytes after it


def send(end: socket.socket, head: tuple[Any, ...], body: Buffer = b"") -> None:
    """Send one frame; of each end one thread does. Raises OSError once the other process is gone."""
    text = json.dumps(head).encode()
    end.sendall(_LENGTHS.pack(len(text), len(body)) + text)
    if len(body):
        end.sendall(body)


def receive(end: socket.socket, place: Callable[[list[Any], int], memoryview]) -> list[Any] | None:
    """Return the array of the next frame, None once the other process is gone.

    place : returns the place for the bytes after an array, given the array and their number
    """
    try:
        lengths = memoryview(bytearray(_LENGTHS.size))
        _fill(end, lengths)
        text_nbytes, nbytes = _LENGTHS.unpack(lengths)
        text = memoryview(bytearray(text_nbytes))
        _fill(end, text)
        head: list[Any] = json.loads(bytes(text))
        if nbytes:
            _fill(end, place(head, nbytes))
    except OSError:
        return None
    return head


def _fill(end: socket.socket, view: memoryview) -> None:
    while len(view):
        count = end.recv_into(view)
        if not count:
            raise ConnectionResetError
        view = view[count:]
