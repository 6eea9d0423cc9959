"""One end of the pipe between a run and its worker: it gives whole messages only, even if a provider writes into it."""

from __future__ import annotations

import fcntl
import json
import resource
import socket
import struct
import time
import zlib
from collections import deque
from typing import Any, Final

from ep_conformance.untrusted import read_json

__all__ = ["Channel", "frame", "set_apart"]

_MARK: Final = b"\x93EP\n"
_HEAD: Final = struct.Struct("<4sII")  # the mark, the bytes of the text, their checksum
_MOST: Final = 1 << 26
"""Bytes of a message: a survey of the exhaustive profile has a tenth of it."""

_READ: Final = 1 << 20
"""Bytes that are read at a time, so that a reader looks at its clock even if a writer never stops."""

_SHOWN: Final = 8
_FAR: Final = 500


def frame(message: list[Any]) -> bytes:
    """Return a message in JSON as it is sent. Raises TypeError or ValueError for values that JSON lacks."""
    text = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    return _HEAD.pack(_MARK, len(text), zlib.crc32(text)) + text


def set_apart(end: socket.socket) -> socket.socket:
    """Return an end under a number far from those that programs use, which no program that is started inherits."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    place = _FAR if limit == resource.RLIM_INFINITY else min(_FAR, limit // 2)
    with end:
        return socket.socket(fileno=fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, place))


class Channel:
    """Sends and receives messages, lists that JSON has.

    junk   : bytes that are no message, "" if there were none; nothing after them is read
    ended  : True once the other end is closed
    begun  : the monotonic time at which an incomplete message began, None without one
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._bytes = bytearray()
        self._messages: deque[list[Any]] = deque()
        self.junk = ""
        self.ended = False
        self.begun: float | None = None

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._socket.fileno()

    @property
    def is_ready(self) -> bool:
        """True if a message is there, or none will be any more."""
        return bool(self._messages or self.junk or self.ended)

    @property
    def waiting(self) -> int:
        """The bytes of a message that is not whole yet."""
        return len(self._bytes)

    def send(self, message: list[Any], seconds: float | None = None) -> None:
        """Send a message. Raises OSError if the other end is closed or too slow, TypeError for values not in JSON."""
        self._socket.settimeout(seconds)
        self._socket.sendall(frame(message))

    def take(self) -> list[Any] | None:
        """Return the next message that is there, None if there is none."""
        return self._messages.popleft() if self._messages else None

    def receive(self) -> list[Any] | None:
        """Wait for the next message and return it, None if there will be none."""
        while not self.is_ready:
            self._socket.settimeout(None)
            self._read()
        return self.take()

    def fill(self) -> None:
        """Read what is there, and do not wait."""
        if not (self.junk or self.ended):
            self._socket.settimeout(0)
            self._read()

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _read(self) -> None:
        try:
            some = self._socket.recv(_READ)
        except BlockingIOError:
            return
        except OSError:
            some = b""
        self.ended = not some
        self._bytes += some
        while not self.junk and self._cut():
            self.begun = None
        if not self._bytes:
            self.begun = None
        elif self.begun is None:
            self.begun = time.monotonic()

    def _cut(self) -> bool:
        """Move one message from the bytes to the messages; False if the bytes hold no whole message, or none at all."""
        count = len(self._bytes)
        if count < _HEAD.size:
            self.junk = "" if self._bytes.startswith(_MARK[:count]) or self._bytes[:4] == _MARK else self._shown()
            return False
        mark, length, checksum = _HEAD.unpack_from(self._bytes)
        if mark != _MARK or length > _MOST:
            self.junk = self._shown()
            return False
        end = _HEAD.size + length
        if count < end:
            return False
        text = bytes(self._bytes[_HEAD.size : end])
        message = _message(text) if zlib.crc32(text) == checksum else None
        if message is None:
            self.junk = self._shown()
            return False
        self._messages.append(message)
        del self._bytes[:end]
        return True

    def _shown(self) -> str:
        return f"{len(self._bytes)} bytes of junk ({self._bytes[:_SHOWN].hex(' ')} ...)"


def _message(text: bytes) -> list[Any] | None:
    """Return the message of a text, None if it holds none."""
    try:
        message = read_json(text)
    except ValueError:
        return None
    return message if isinstance(message, list) and message and isinstance(message[0], str) else None
