"""A Letter is a short message from one rank to another: what it has come to, with little data, or why it leaves."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from ep_collectives.carrier.launch import Turn

    Key = tuple[int, int, int]

__all__ = ["ALIVE", "CLOSE", "FAIL", "MEET", "OUT", "Letter", "key_of", "packed"]

MEET: Final = 0
"""The rank has come to a collective."""
FAIL: Final = 1
"""The communicator is broken: the payload says why."""
OUT: Final = 2
"""The rank, which knows that the communicator is broken, receives nothing more."""
CLOSE: Final = 3
"""The rank comes to nothing more. The last letter of a rank."""

ALIVE: Final = 4
"""The rank waits, and lives."""

_MOST_SAID: Final = 0xFFFF
_HEAD: Final = struct.Struct("<16sBxHIqqii")


class Letter(NamedTuple):
    """One letter.

    kind     : MEET, FAIL, OUT, CLOSE or ALIVE
    address  : 16 bytes that name the communicator
    key      : of the collective
    tag      : of the first of the rank's data messages in the collective
    elements : that the rank sends to the receiver, where counts are of pairs
    said     : what the rank's collective must have in common with all others', in UTF-8
    payload  : data
    """

    kind: int
    address: bytes
    key: Key = (0, 0, 0)
    tag: int = 0
    elements: int = 0
    said: bytes | bytearray = b""
    payload: Any = b""

    def pack(self) -> bytes:
        """Return it as bytes."""
        return packed(*self)

    @classmethod
    def unpack(cls, text: bytearray) -> Letter:
        """Return the letter of some bytes."""
        address, kind, length, tag, elements, number, source, target = _HEAD.unpack_from(text)
        end = _HEAD.size + length
        said = text[_HEAD.size : end]
        return cls(kind, address, (number, source, target), tag, elements, said, memoryview(text)[end:])


def packed(  # noqa: PLR0913, PLR0917 - the fields of a letter, which need not be one first
    kind: int, address: bytes, key: Key, tag: int, elements: int, said: bytes | bytearray, payload: Any
) -> bytes:
    """Return a letter as bytes."""
    said = said[:_MOST_SAID]
    head = _HEAD.pack(address, kind, len(said), tag, elements, *key)
    return b"".join((head, said, payload))


def key_of(turn: Turn) -> Key:
    """Return the key of a launch: equal at all ranks that meet."""
    if isinstance(turn.key, tuple):
        (source, target), number = turn.key
        return (number, source, target)
    return (turn.number, -1, -1)
