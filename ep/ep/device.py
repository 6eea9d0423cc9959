"""A Device makes everything else: memory, streams, primitives. Its methods are immediate; what is ordered is a stream's."""

from __future__ import annotations

import collections
import operator
import os
import threading
import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, final

from ep.cache import PrimitiveCache
from ep.callback import check_outside
from ep.errors import ClosedError, EpError, OutOfMemoryError, UnsupportedError
from ep.executable import Replay
from ep.foreign import wrap_host, wrap_memory, wrap_stream
from ep.memory import Block, Memory, MemoryKind
from ep.retire import RetireList
from ep.waiting import Deadline, check_timeout

if TYPE_CHECKING:
    from ep.executable import Executable, Node, Slot
    from ep.provider import Provider
    from ep.stream import Stream

__all__ = ["Device", "DeviceInfo"]


class DeviceInfo(NamedTuple):
    """What a device is. A frozen value.

    memory        : bytes
    alignment     : bytes; every fresh allocation starts at a multiple of it
    dtypes        : names of the element types that its kernels may compute or store
    features      : words that `when` in claims.toml may ask for, such as "fp64"
    flushes       : names of the dtypes whose denormals its kernels flush to zero
    fingerprint   : UUID or PCI address; equal ones are one physical device, an empty one never matches
    determinism   : what repeating a launch on equal inputs guarantees: "bitwise" or "none"
    """

    name: str
    vendor: str
    driver: str = ""
    memory: int = 0
    compute_units: int = 1
    subgroup_size: int = 1
    alignment: int = 64
    dtypes: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    flushes: frozenset[str] = frozenset()
    fingerprint: str = ""
    determinism: str = "bitwise"


class Device(ABC):
    """One device of a provider, such as `cpu:0`; equal names are the same object.

    provider  : the provider that it came from
    index     : its number there
    name      : "provider:index"
    info      : a DeviceInfo
    degraded  : how often each ability was served by a default of EP in place of the provider, by name
    """

    provider: Provider
    index: int
    name: str

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info
        self.name = info.name
        self.degraded: collections.Counter[str] = collections.Counter()
        self.is_closed = False
        self._pid = os.getpid()
        self._retired = RetireList(self)
        self._primitives = PrimitiveCache(self)
        self._blocks: weakref.WeakSet[Block] = weakref.WeakSet()
        self._streams: weakref.WeakKeyDictionary[Stream, None] = weakref.WeakKeyDictionary()
        self._stream_count = 0
        self._lock = threading.Lock()

    # What users call. Final: each validates and then calls the twin of its name.

    @final
    def allocate(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> Memory:
        """Return `nbytes` bytes of fresh memory, aligned to info.alignment, contents undefined; 0 is legal.

        Raises OutOfMemoryError, after which the device still works.
        """
        self._require_open("allocate")
        nbytes = _integer("allocate: nbytes", nbytes)
        if nbytes < 0:
            message = f"allocate: nbytes {nbytes} is below 0"
            raise ValueError(message)
        if not isinstance(kind, MemoryKind):
            message = f"allocate: kind {kind!r} is not a MemoryKind"
            raise TypeError(message)
        self._retired.drain()
        # Zero bytes never reach a provider: the block is its own, already retired.
        handle = self._allocate_or_retry(nbytes, kind) if nbytes else None
        block = Block(self, handle, nbytes, kind)
        block.is_retired = not nbytes
        with self._lock:
            self._blocks.add(block)
        return Memory(block, 0, nbytes, is_view=False)

    @final
    def stream(self, priority: int = 0, *, timed: bool = True, synchronous: bool | None = None) -> Stream:
        """Return a new in-order stream.

        priority     : higher runs first where the device has priorities
        timed        : True: its events may carry device time
        synchronous  : True: each verb returns when its work is done; False: at once; None: the provider's habit

        Raises UnsupportedError for a mode that the provider lacks.
        """
        self._require_open("stream")
        priority = _integer("stream: priority", priority)
        if synchronous not in (None, True, False):
            message = f"stream: synchronous is {synchronous!r}, needs True, False or None for the provider's habit"
            raise TypeError(message)
        stream = self._stream(priority=priority, timed=timed, synchronous=synchronous)
        return self._enlist(stream)

    @final
    def synchronize(self, timeout: float | None = None) -> None:
        """Let the host wait for all streams of this device, and free what was closed.

        Raises TimeoutError, or the error of work that failed.
        """
        self._require_open("synchronize")
        check_timeout(timeout, f"{self.name}.synchronize")
        deadline, streams = Deadline(timeout), self._open_streams()
        for stream in streams:
            stream._outlast(deadline.left())
        self._retired.wait_for_orphans(deadline)
        self._retired.drain()
        for stream in streams:
            stream._raise_error(clear=True)

    @final
    def can_copy_from(self, other: Device) -> bool:
        """Say whether this device's streams copy from `other` without passing through the host."""
        return other is self or self._can_copy_from(other)

    @final
    def can_access(self, other: Device) -> bool:
        """Say whether this device's kernels read the memory of `other`."""
        return other is self or self._can_access(other)

    @final
    def close(self) -> None:
        """Close the device; its name may be opened again. Idempotent.

        Raises EpError, naming them, while streams or memories of it are open.
        """
        self._check_fork("close")
        if self.is_closed:
            return
        check_outside("close")
        self._retired.wait_for_orphans()
        self._retired.drain()
        streams = [stream.name for stream in self._open_streams()]
        memories = [f"memory of {block.nbytes} bytes" for block in self._open_blocks()]
        if streams or memories:
            message = (
                f"{self.name}.close: still open are {', '.join(sorted(streams) + sorted(memories))}; close them first"
            )
            raise EpError(message)
        self._shut()

    @final
    def _unfinished(self) -> list[Stream]:
        """Return all streams that are not closed, dropped ones with work under way among them."""
        return [*self._open_streams(), *self._retired.orphans()]

    @final
    def _close_memories(self) -> None:
        """Close and free all memories; nothing touches them any more: the second of three steps at the end."""
        with self._lock:
            blocks = [*self._blocks]
        for block in blocks:
            block.close()
        self._retired.drain_all()

    @final
    def _shut(self) -> None:
        """Close the device itself, its streams and memories being closed."""
        self._primitives.clear()
        self._retired.drain_all()
        self.is_closed = True
        self.provider._forget(self)
        self._close()

    @final
    def _open_streams(self) -> list[Stream]:
        with self._lock:
            return [stream for stream in self._streams if not stream.is_closed]

    @final
    def _open_blocks(self) -> list[Block]:
        """Return what is in use: open memories, and closed ones that a bound step holds."""
        with self._lock:
            return [block for block in self._blocks if block.device is self or (block.holds and not block.is_retired)]

    @final
    def wrap_host(self, address: int, nbytes: int, owner: object, *, is_read_only: bool = False) -> Memory:
        """Return memory at a host address that this device reaches; `owner` is kept until no work can touch it.

        is_read_only : True: whatever would write it is refused with a ValueError

        Raises UnsupportedError where the device does not reach host memory.
        """
        return wrap_host(self, address, nbytes, owner, is_read_only=is_read_only)

    @final
    def wrap_memory(self, handle: Any, nbytes: int, *, owner: object, is_read_only: bool = False) -> Memory:
        """Return the first `nbytes` bytes of a native allocation of this device, which others made and will free.

        handle       : what the provider calls an allocation; where that is a host address this is wrap_host
        owner        : kept until no work can touch the bytes
        is_read_only : True: whatever would write them is refused with a ValueError

        Raises ValueError for what is not an allocation of this device, UnsupportedError where nothing can be wrapped.
        """
        return wrap_memory(self, handle, nbytes, owner, is_read_only=is_read_only)

    @final
    def wrap_stream(self, handle: Any, *, owner: object) -> Stream:
        """Return a stream that enqueues into a native in-order queue of this device, which others made and will close.

        handle : what the provider calls a queue
        owner  : kept until the stream is closed; closing waits for the queue and leaves it open

        Raises ValueError for what is not such a queue, UnsupportedError where there are none.
        """
        return wrap_stream(self, handle, owner)

    @property
    @final
    def reaches_host(self) -> bool:
        """True if kernels of this device may be given host memory."""
        return type(self)._wrap_host is not Device._wrap_host

    # What a provider must write.

    @abstractmethod
    def _allocate(self, nbytes: int, kind: MemoryKind) -> Any:
        """Return a handle for nbytes > 0 of memory aligned to info.alignment. Raises OutOfMemoryError."""

    @abstractmethod
    def _free(self, handle: Any, kind: MemoryKind) -> None:
        """Free what _allocate returned; no enqueued work touches it."""

    @abstractmethod
    def _stream(self, *, priority: int, timed: bool, synchronous: bool | None) -> Stream:
        """Return a new stream. Raises UnsupportedError for a mode that the device lacks."""

    # What a provider may write.

    def _host(self, handle: Any, nbytes: int) -> memoryview:
        """Return a whole allocation as a flat writable memoryview of bytes, where the host reaches it."""
        raise NotImplementedError

    def _wrap_host(self, address: int, nbytes: int) -> Any:
        """Return a handle for host memory, where kernels reach it."""
        message = f"{self.name} does not reach host memory ({nbytes} bytes at {address:#x}); use stream.upload"
        raise UnsupportedError(message)

    def _wrap_memory(self, handle: Any, nbytes: int) -> Any:
        """Return the handle of a foreign native allocation of at least nbytes, given as it or by DLPack's data pointer."""
        message = f"{self.name} wraps no memory of others ({nbytes} bytes, {handle!r}); use stream.upload"
        raise UnsupportedError(message)

    def _wrap_stream(self, handle: Any) -> Stream:
        """Return a new stream that enqueues into a foreign native queue and does not close it."""
        message = f"{self.name} wraps no stream of others ({handle!r}); use device.stream()"
        raise UnsupportedError(message)

    def _dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's (device type, device index) of this device's memory."""
        message = f"{self.name} has no DLPack device type; use stream.download"
        raise UnsupportedError(message)

    def _address(self, handle: Any) -> int:
        """Return DLPack's data pointer of an allocation: its address, or the name of an object."""
        message = f"{self.name} shows nobody where its memory is ({handle!r}); use stream.download"
        raise UnsupportedError(message)

    def _can_copy_from(self, other: Device) -> bool:
        """Say whether _copy takes memory of another device as its source."""
        del other
        return False

    def _can_access(self, other: Device) -> bool:
        """Say whether kernels take memory of another device."""
        del other
        return False

    def _instantiate(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> Executable:
        """Return captured work made ready to run. Default: a plain replay, node after node."""
        self._degrade("graph")
        return Replay(nodes, slots)

    @property
    def native_calls(self) -> int | None:
        """How many driver calls this device has made so far; None if nobody counts."""
        return None

    def _close(self) -> None:
        """Release what the device itself holds; streams and memories are gone."""

    # What EP itself calls.

    @final
    def _enlist(self, stream: Stream) -> Stream:
        """Name a stream that was made, and note that it may touch memory."""
        with self._lock:
            stream.name = f"{self.name}/stream{self._stream_count}"
            self._stream_count += 1
            self._streams[stream] = None
        self._retired.enrol(stream)
        return stream

    @final
    def _allocate_or_retry(self, nbytes: int, kind: MemoryKind) -> Any:
        try:
            return self._allocate(nbytes, kind)
        except OutOfMemoryError:
            # What was closed but is still waiting for its streams may be enough.
            if not len(self._retired):
                raise
            for stream in self._open_streams():
                stream._finish_work()
            self._retired.wait_for_orphans()
            self._retired.drain()
            return self._allocate(nbytes, kind)

    @final
    def _degrade(self, ability: str) -> None:
        with self._lock:  # an asynchronous stream's worker degrades, too
            self.degraded[ability] += 1

    @final
    def _require_open(self, operation: str) -> None:
        self._check_fork(operation)
        check_outside(operation)
        if self.is_closed:
            message = f"{operation}: {self.name} was closed; ep.device({self.name!r}) opens it again"
            raise ClosedError(message)

    @final
    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        for stream in [*self._streams]:
            stream._set_door(stream._refuse_fork)
        # So that a look-up of a descriptor, which asks nothing but the cache, meets _require_open.
        self._primitives = PrimitiveCache(self)

    @final
    def _check_fork(self, operation: str) -> None:
        if self._pid != os.getpid():
            message = f"{operation}: {self.name} was made before fork(); open devices in the child"
            raise ClosedError(message)

    def __repr__(self) -> str:
        return f"<Device {self.name}: {self.info.name}>"


def _integer(argument: str, value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        message = f"{argument} is {value!r}, needs an integer"
        raise TypeError(message) from None
