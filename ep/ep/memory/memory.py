"""Memory is bytes on one device; a Block is what the provider allocated, shared by a memory and its views."""

from __future__ import annotations

import ctypes
import itertools
import sys
from typing import TYPE_CHECKING, Any, Final, final
from weakref import ref

from ep.errors import ClosedError, UnsupportedError
from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied
from ep.integers import integer
from ep.layout.memory_kind import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ep.memory.segment import Segment
    from ep.stream.device import Device

HOST_SPACE: Final = 0
"""The space of wrapped host memory."""
_SPACES: Final = itertools.count(1)
_OWN_REFERENCES: Final = 2
"""To a lease that its block alone has: the block's, and that of the call which counts them."""

__all__ = ["HOST_SPACE", "Block", "Lease", "LeaseRef", "Memory", "require_memory"]


class Lease(Uncopied):
    """The right to the bytes of a Block: a memory has it until close(), and steps, graphs and exports keep it longer.

    Python counts its references. After the last one is gone, a call in C appends the LeaseRef to its deque: no line of
    EP runs that a handler or Ctrl-C could interrupt.
    """

    __slots__ = ("__weakref__",)


class LeaseRef(ref[Lease]):
    """Refers weakly to a Lease and its Block, and says which segment it is of until the pool has that back."""

    __slots__ = ("block", "segment")

    block: ref[Block]
    segment: Segment | None

    def __getattr__(self, _: str) -> None:
        """Return None for an attribute that Ctrl-C kept a block from setting."""


class Block(Uncopied):
    """One use of a segment, of which a memory and its views have the lease.

    `device` is None once it is closed, so that one comparison at the door tells open from closed and ours from foreign.
    Blocks share bytes only if they have one `space`: each use of an allocation is a space of its own, wrapped host memory
    lies at `start` of the host's. Launches write at once where `target` is that space; where it is missing, the bytes are
    read-only, or must be looked at closer.
    """

    __slots__ = (
        "__weakref__",
        "derived",
        "device",
        "handle",
        "is_read_only",
        "kind",
        "lease",
        "lease_ref",
        "nbytes",
        "space",
        "start",
        "target",
    )

    def __init__(
        self, device: Device, nbytes: int, *, space: int | None = None, address: int = 0, is_read_only: bool = False
    ) -> None:
        self.device: Device | None = device
        self.is_read_only = is_read_only
        self.space = next(_SPACES) if space is None else space
        if self.space != HOST_SPACE and not is_read_only:
            self.target = self.space
        self.start = address
        self.nbytes = nbytes
        self.derived: dict[Hashable, Any] | None = None  # while it is frozen and open
        # The pool gives it these.
        self.handle: Any = None
        self.kind = MemoryKind.DEVICE
        self.lease: Lease | None = Lease()
        self.lease_ref = LeaseRef(self.lease, device._retired.arrived.append)
        self.lease_ref.segment = None
        self.lease_ref.block = ref(self)

    @property
    def is_lent(self) -> bool:
        """True if another library owns the bytes, to which they go back."""
        segment = self.lease_ref.segment
        return segment is not None and segment.owner is not None

    def host_address(self) -> int | None:
        """Return where the bytes lie in host memory, None where the host does not reach them."""
        if self.space == HOST_SPACE:
            return self.start
        if self.device is None or not self.nbytes:
            return None
        try:
            view = self.device.twin.host(self.handle, self.nbytes)
        except UnsupportedError:
            return None
        return ctypes.addressof(ctypes.c_char.from_buffer(view))

    def close(self) -> None:
        """Refuse further use; the bytes go to the device's retire list once the last holder drops the lease."""
        self.device = None
        self.lease = None
        self.derived = None

    def keep(self) -> Lease:
        """Return the lease. Raises ClosedError if the memory was closed and no object holds the lease any more."""
        lease = self.lease_ref()
        if lease is None:
            message = "a memory that was to be bound or exported was closed; give an open one"
            raise ClosedError(message)
        return lease


@final
class Memory(Uncopied):
    """`nbytes` bytes on a device, made by `device.allocate`; slices are views of the same bytes.

    device  : where the bytes are
    handle  : the provider's handle of the allocation, opaque: no arithmetic on it
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
        # Wrapped host memory may lie inside an allocation: without this attribute the short way of a launch (see
        # operands.py) does not apply, and the long one looks closer.
        if block.space != HOST_SPACE:
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
        if not isinstance(key, slice) or not (key.step is None or (type(key.step) is int and key.step == 1)):
            message = (
                f"memory: {glimpse(key)} is not a view; take a slice of bytes without a step, such as memory[64:128]"
            )
            raise TypeError(message)
        self.device._check_fork("memory view")
        start = 0 if key.start is None else integer("memory: start of the view", key.start)
        stop = self.nbytes if key.stop is None else integer("memory: stop of the view", key.stop)
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
        if not self.nbytes:
            return memoryview(bytearray())
        view = device.twin.host(self.handle, self._block.nbytes)[self.offset : self.offset + self.nbytes]
        return view.toreadonly() if self._block.is_read_only else view

    @property
    def is_frozen(self) -> bool:
        """True after freeze() on this memory or on the one that it is a view of, until that is closed."""
        return self._block.derived is not None

    def freeze(self) -> None:
        """Refuse, from now on, all that would write these bytes: weights are packed once for all steps and graphs.

        Work that was enqueued before may still write them; steps and graphs that read them come after it, by their stream
        or by an event. What another library writes, or the host by an earlier host(), is not seen. Idempotent; there is no
        way back. Raises ClosedError, or ValueError for a view, and while a step, a graph or an export holds the memory.
        """
        self._require_open("memory.freeze")
        block = self._block
        if block.derived is not None:
            return
        if self._is_view:
            message = "memory.freeze: this is a view, and others may be written; freeze the memory that it is a view of"
            raise ValueError(message)
        if sys.getrefcount(block.lease) > _OWN_REFERENCES:
            message = "memory.freeze: a step, a graph or an export holds the memory, and may write it; freeze it before, or close that"
            raise ValueError(message)
        block.is_read_only, block.derived = True, {}
        if hasattr(block, "target"):
            del block.target

    def derive(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what the first call with a key made, for providers: such as a memory for packed weights.

        It is kept until the frozen memory is closed; steps and graphs that use it hold it, too. Of two threads that come
        at once both may make one, of which one is kept. Raises ClosedError, or ValueError unless the memory is frozen.
        """
        self._require_open("memory.derive")
        derived = self._block.derived
        if derived is None:
            message = "memory.derive: the memory may still be written; what is made of it is kept for frozen ones"
            raise ValueError(message)
        found = derived.get(key)
        return derived.setdefault(key, make()) if found is None else found

    def close(self) -> None:
        """Give the bytes back once all enqueued work that may touch them is done; closing a view ends the view alone.

        Idempotent. Views of a closed memory are closed with it.
        """
        if self._is_view:
            self._block = _closed(self._block)
        else:
            self._block.close()

    def _part(self, begin: int, nbytes: int) -> Memory:
        """Return a view, also of a memory that was closed for the host; the caller holds its bytes."""
        part = Memory.__new__(Memory)
        part._block, part._is_view = self._block, True
        part.device, part.handle, part.kind = self.device, self.handle, self.kind
        part.offset, part.nbytes = self.offset + begin, nbytes
        return part

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
            told = "frozen" if self.is_frozen else "a view of a read-only object"
            message = f"{operation}: the memory is {told}; give a writable one"
            raise ValueError(message)

    def _require_open(self, operation: str) -> None:
        self.device._check_fork(operation)
        if self._block.device is None:
            message = f"{operation}: the memory ({self.nbytes} bytes on {self.device.name}) was closed"
            raise ClosedError(message)

    def __repr__(self) -> str:
        state = "closed " if self.is_closed else ""
        return f"<{state}Memory {self.nbytes} bytes at {self.offset} on {self.device.name}>"


def require_memory(where: str, memory: Any) -> None:
    """Raise TypeError for an object that is no Memory, ClosedError for a closed one.

    where : "operation: argument", for the message
    """
    if type(memory) is not Memory:
        message = f"{where} is {type(memory).__name__}, needs a Memory; device.allocate gives one, and a Tensor has one: tensor.memory"
        raise TypeError(message)
    memory._require_open(where)


def _closed(block: Block) -> Block:
    """Return a block that refuses use and owns nothing, to take the place of an ended view's."""
    ended = Block.__new__(Block)
    ended.device, ended.lease, ended.lease_ref = None, None, LeaseRef(Lease())
    ended.lease_ref.segment = None
    ended.handle, ended.nbytes, ended.kind = None, block.nbytes, block.kind
    ended.space, ended.start, ended.is_read_only = block.space, block.start, block.is_read_only
    ended.derived = None
    return ended
