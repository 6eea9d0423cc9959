"""Memory is bytes on one device; a Block is what the provider allocated, shared by a memory and its views."""

from __future__ import annotations

import ctypes
import enum
import itertools
import operator
from typing import TYPE_CHECKING, Any, Final, final

from ep.errors import ClosedError, UnsupportedError
from ep.locks import ForkLock

if TYPE_CHECKING:
    from ep.device import Device

HOST_SPACE: Final = 0
"""The space of host memory that others own."""
_SPACES: Final = itertools.count(1)

# Reentrant, because a finalizer may run inside any of the short sections that it guards.
_HOLDING = ForkLock()

__all__ = ["HOST_SPACE", "Block", "Memory", "MemoryKind"]


class MemoryKind(enum.Enum):
    """Where bytes live and who reaches them."""

    DEVICE = "device"


class Block:
    """One allocation: it goes to the device's retire list when nobody refers to it any more, or at close().

    `device` is None once it is closed, so that one comparison at the door tells open from closed and ours from foreign.
    `holds` counts the bound steps, graphs and exports that need the bytes although the memory was closed. Blocks share
    bytes only if they have one `space`: an allocation is a space of its own, wrapped host memory lies at `start` of the host's.
    """

    __slots__ = (
        "__weakref__",
        "device",
        "handle",
        "holds",
        "is_read_only",
        "is_retired",
        "kind",
        "nbytes",
        "owner",
        "retire",
        "space",
        "start",
    )

    def __init__(  # noqa: PLR0913 - an allocation, or what wraps an owner's bytes at an address
        self,
        device: Device,
        handle: Any,
        nbytes: int,
        kind: MemoryKind,
        *,
        owner: object = None,
        space: int | None = None,
        address: int = 0,
        is_read_only: bool = False,
    ) -> None:
        self.device: Device | None = device
        self.is_read_only = is_read_only
        self.space = next(_SPACES) if space is None else space
        self.start = address
        self.handle = handle
        self.nbytes = nbytes
        self.kind = kind
        self.owner = owner
        self.holds = 0
        self.is_retired = False
        # Taken now: a finalizer must not look anything up.
        self.retire = device._retired.append

    def host_address(self) -> int | None:
        """Return where the bytes lie in host memory, None where the host does not reach them."""
        if self.space == HOST_SPACE:
            return self.start
        if self.device is None or not self.nbytes or not _shows_host(self.device):
            return None
        view = self.device._host(self.handle, self.nbytes)
        return ctypes.addressof(ctypes.c_char.from_buffer(view))

    def close(self) -> None:
        """Refuse further use, and give the bytes back as soon as no step holds them."""
        with _HOLDING:
            self.device = None
            if not self.holds:
                self._give_back()

    def hold(self) -> None:
        """Keep the bytes although the memory may be closed later. Raises ClosedError if nobody keeps them any more."""
        with _HOLDING:
            if self.device is None and not self.holds:
                message = "a memory that was to be bound or exported was closed; give an open one"
                raise ClosedError(message)
            self.holds += 1

    def release(self) -> None:
        """Undo one hold()."""
        with _HOLDING:
            self.holds -= 1
            if not self.holds and self.device is None:
                self._give_back()

    def _give_back(self) -> None:
        if not self.is_retired:
            self.is_retired = True
            owner, self.owner = self.owner, None  # a closed memory that somebody still refers to keeps nobody alive
            self.retire((self.handle, self.kind, owner))

    def __del__(self) -> None:
        if not self.is_retired:
            self.is_retired = True
            self.retire((self.handle, self.kind, self.owner))


@final
class Memory:
    """`nbytes` bytes on a device, made by `device.allocate`; slices are views of the same bytes.

    device  : where the bytes are
    handle  : the provider's name for the allocation, opaque: nobody does arithmetic on it
    offset  : place of the first byte in the allocation
    nbytes  : length
    kind    : a MemoryKind

    Read-only to callers; plain slots, because every launch reads them. Fresh contents are undefined.
    """

    __slots__ = ("__weakref__", "_block", "_is_view", "_space", "device", "handle", "kind", "nbytes", "offset")

    def __init__(self, block: Block, offset: int, nbytes: int, *, is_view: bool) -> None:
        if block.device is None:
            message = "memory: a view of a closed memory was asked for; allocate a new one"
            raise ClosedError(message)
        self._block = block
        self._is_view = is_view
        # Wrapped host memory may lie inside an allocation, and others' may be read-only: without this attribute the
        # short way of a launch (see operands.py) does not apply, and the long one looks closer.
        if block.space != HOST_SPACE and not block.is_read_only:
            self._space = block.space
        self.device = block.device
        self.handle = block.handle
        self.offset = offset
        self.nbytes = nbytes
        self.kind = block.kind

    @property
    def is_closed(self) -> bool:
        """True after close() on this memory or on the one that it is a view of."""
        return self._block.device is None

    def __len__(self) -> int:
        return self.nbytes

    def __getitem__(self, key: slice) -> Memory:
        """Return the view of bytes start:stop; it is closed when this memory is."""
        if not isinstance(key, slice) or key.step not in (None, 1):
            message = f"memory: {key!r} is not a view; take a slice of bytes without a step, such as memory[64:128]"
            raise TypeError(message)
        self.device._check_fork("memory view")
        start = 0 if key.start is None else operator.index(key.start)
        stop = self.nbytes if key.stop is None else operator.index(key.stop)
        if not 0 <= start <= stop <= self.nbytes:
            message = f"memory: view [{start}:{stop}] needs 0 <= start <= stop <= {self.nbytes}, the memory's nbytes"
            raise ValueError(message)
        return Memory(self._block, self.offset + start, stop - start, is_view=True)

    def host(self) -> memoryview:
        """Return the bytes as a memoryview, writable unless they are read-only, where the host reaches them.

        The caller waits for the streams that write them. Raises UnsupportedError where the host does not reach them,
        ClosedError after close().
        """
        self._require_open("memory.host")
        device = self.device
        device._check_fork("memory.host")
        if not _shows_host(device):
            message = f"memory.host: the host does not reach the memory of {device.name}; use stream.download"
            raise UnsupportedError(message)
        if not self.nbytes:
            return memoryview(bytearray())
        view = device._host(self.handle, self._block.nbytes)[self.offset : self.offset + self.nbytes]
        return view.toreadonly() if self._block.is_read_only else view

    def close(self) -> None:
        """Give the bytes back once all enqueued work that may touch them is done; closing a view ends the view alone.

        Idempotent. Views of a closed memory are closed with it.
        """
        if self._is_view:
            self._block = _closed(self._block)
        else:
            self._block.close()

    def _distance_to(self, other: Memory) -> int | None:
        """Return where the other's first byte is from this one's, None if they cannot share bytes."""
        mine, its = self._block, other._block
        if mine.space == its.space:
            return its.start + other.offset - mine.start - self.offset
        if HOST_SPACE not in (mine.space, its.space):
            return None
        here, there = mine.host_address(), its.host_address()
        return None if here is None or there is None else there + other.offset - here - self.offset

    def _require_writable(self, operation: str) -> None:
        if self._block.is_read_only:
            message = f"{operation}: the memory is a view of a read-only object; give a writable one"
            raise ValueError(message)

    def _require_open(self, operation: str) -> None:
        if self._block.device is None:
            message = f"{operation}: the memory ({self.nbytes} bytes on {self.device.name}) was closed"
            raise ClosedError(message)

    def __repr__(self) -> str:
        state = "closed " if self.is_closed else ""
        return f"<{state}Memory {self.nbytes} bytes at {self.offset} on {self.device.name}>"


def _closed(block: Block) -> Block:
    """Return a block that refuses use and owns nothing, to take the place of an ended view's."""
    ended = Block.__new__(Block)
    ended.device, ended.handle, ended.nbytes, ended.kind = None, None, block.nbytes, block.kind
    ended.owner, ended.holds, ended.is_retired, ended.retire = None, 0, True, block.retire
    ended.space, ended.start, ended.is_read_only = block.space, block.start, block.is_read_only
    return ended


def _shows_host(device: Device) -> bool:
    """Say whether the provider overrides `_host`."""
    from ep.device import Device as Default  # noqa: PLC0415 - device imports this module

    return type(device)._host is not Default._host
