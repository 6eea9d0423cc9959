"""A Device makes everything else: memory, streams, primitives. Its methods act at once; streams order work."""

from __future__ import annotations

import collections
import functools
import itertools
from os import getpid
from typing import TYPE_CHECKING, Any, final

from ep.errors import ClosedError, EpError
from ep.exchange.foreign import number_of, require_sound, wrap_host, wrap_memory, wrap_stream
from ep.exchange.tensor import empty, uploaded
from ep.ground.callback import check_may_wait, check_outside
from ep.ground.glimpse import glimpse
from ep.ground.ledger import Ledger
from ep.ground.roster import Roster
from ep.ground.truth import truth
from ep.ground.uncopied import Uncopied
from ep.ground.waiting import Deadline, check_timeout
from ep.integers import integer
from ep.layout.memory_kind import MemoryKind
from ep.memory import leaks
from ep.memory.heap import Heap
from ep.memory.retire import RetireList
from ep.memory.segment import OWNERSHIP
from ep.spi.device import Device as SpiDevice
from ep.spi.stream import Stream as SpiStream
from ep.spi.worker import Worker
from ep.stream import doors, validation, worker
from ep.work.cache import PrimitiveCache
from ep.work.executable import Executable, Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ep import spi
    from ep.exchange.tensor import Tensor
    from ep.layout.spec import TensorSpec
    from ep.memory.memory import Memory
    from ep.memory.pool import MemoryInfo
    from ep.plugin.provider import Provider
    from ep.stream.stream import Stream
    from ep.work.executable import Node, Slot

__all__ = ["Device"]


class Device(Uncopied):
    """One device of a provider, such as `cpu:0`; equal names are the same object.

    provider  : the provider that it came from
    index     : its number there
    name      : "provider:index"
    info      : a DeviceInfo
    degraded  : how often each ability was served by a default of EP in place of the provider, by name
    twin      : the provider's device
    """

    def __init__(self, provider: Provider, index: int, twin: spi.Device) -> None:
        self.provider = provider
        self.index = index
        self.name = f"{provider.name}:{index}"
        self.twin = twin
        twin.name, twin.index = self.name, index
        self.info = twin.info
        self.is_closed = False
        self._pid = getpid()
        self._heap = Heap(self)
        self._retired: RetireList = RetireList(self._heap.pool)
        self.degraded: collections.Counter[str] = collections.Counter()
        self._primitives = PrimitiveCache(self)
        self._streams: Roster[Stream] = Roster()
        self._numbers = itertools.count()

    @final
    def stream(self, priority: int = 0, *, timed: bool = True, synchronous: bool | None = None) -> Stream:
        """Return a new in-order stream.

        priority     : higher runs first where the device has priorities
        timed        : True: its events may carry device time
        synchronous  : True: each verb returns when its work is done; False: at once; None: the provider's default

        Raises UnsupportedError for a mode that the provider lacks, DeviceError where the system has no thread for it.
        """
        self._require_open("stream")
        priority = integer("stream: priority", priority)
        timed = truth("stream: timed", timed)
        if synchronous is not None:  # None is the provider's default
            synchronous = truth("stream: synchronous", synchronous)
        self._retired.drain()  # streams that were dropped give back their threads
        make = functools.partial(self.twin.stream, priority=priority, timed=timed, synchronous=synchronous)
        return self._enlist(self._over(make))

    @final
    def allocate(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> Memory:
        """Return `nbytes` bytes of memory, aligned to info.alignment, contents undefined; 0 is legal.

        Every stream and, where the kind lets it, the host may use it at once. It comes from the device's pool, if that
        has a segment of the size class ready.

        Raises OutOfMemoryError, after which the device still works; UnsupportedError for a kind that it lacks.
        """
        return self._heap.allocate(nbytes, kind)

    @final
    def memory_info(self) -> MemoryInfo:
        """Return figures of the device's memory. Closed memory that no stream can touch any more is not in use."""
        self._require_open("memory_info")
        return self._heap.info()

    @final
    def trim(self) -> int:
        """Return the pool's unused segments to the provider, and return their bytes. Waits for no stream."""
        self._require_open("trim")
        return self._heap.trim()

    @property
    def budget(self) -> int | None:
        """The most bytes that may be reserved, None for no limit. Unused segments beyond it go back at once.

        An allocation that does not fit waits for closed memories, gives unused segments back, and then raises
        OutOfMemoryError. Lowering the budget takes no open memory away.
        """
        return self._heap.pool.budget

    @budget.setter
    def budget(self, nbytes: int | None) -> None:
        self._require_open("budget")
        self._heap.limit(nbytes)

    @final
    def wrap_host(self, address: int, nbytes: int, owner: object, *, is_read_only: bool = False) -> Memory:
        """Return memory at a host address that this device reaches; `owner` is kept until no work can touch it.

        is_read_only : True: verbs and launches that would write it raise ValueError

        Raises UnsupportedError where the device does not reach host memory.
        """
        if self.reaches_host:
            require_sound(self, "wrap_host: address", address, nbytes)
        return wrap_host(self, address, nbytes, owner, is_read_only=is_read_only)

    @final
    def wrap_memory(self, handle: Any, nbytes: int, *, owner: object, is_read_only: bool = False) -> Memory:
        """Return the first `nbytes` bytes of a native allocation that another library made and will free.

        handle       : the provider's handle of an allocation of this device. If that is a host address, this is
                       wrap_host; if it is an object of the driver, give that object: its pointer as a number is refused
        owner        : kept until no work can touch the bytes
        is_read_only : True: verbs and launches that would write them raise ValueError

        Raises ValueError for a handle of no allocation of this device, UnsupportedError where none can be wrapped.
        """
        handle = number_of(self, handle)
        require_sound(self, "wrap_memory: handle", handle, nbytes)
        return wrap_memory(self, handle, nbytes, owner, is_read_only=is_read_only)

    @property
    @final
    def reaches_host(self) -> bool:
        """True if kernels of this device may be given host memory."""
        return type(self.twin).wrap_host is not SpiDevice.wrap_host

    @final
    def tensor(self, array: Any, stream: Stream | None = None) -> Tensor:
        """Return a dense copy of an array on this device.

        array  : of NumPy, or an object with DLPack, an array interface or a buffer, in host memory
        stream : one of this device, which copies when it gets there: leave the array unchanged until then;
                 None: the host waits until it is copied

        Raises TypeError or ValueError for anything else, OutOfMemoryError.
        """
        self._require_open("tensor")
        return uploaded(self, array, stream)

    @final
    def empty(
        self, what: TensorSpec | str, shape: Sequence[int] | None = None, kind: MemoryKind = MemoryKind.DEVICE
    ) -> Tensor:
        """Return a tensor with undefined contents, in memory of its own: `empty(spec)`, or `empty(dtype, shape)`, a dense one.

        Raises TypeError or ValueError for arguments that describe no tensor, and as `allocate` does.
        """
        self._require_open("empty")
        return empty(self, what, shape, kind)

    @final
    def synchronize(self, timeout: float | None = None) -> None:
        """Let the host wait for all streams of this device; closed memories go to its pool.

        Raises TimeoutError, or the error of work that failed.
        """
        self._require_open("synchronize")
        check_may_wait("synchronize")
        check_timeout(timeout, f"{self.name}.synchronize")
        deadline, streams = Deadline(timeout), self._open_streams()
        for stream in streams:
            stream._outlast(deadline.left())
        self._retired.wait_for_orphans(deadline)
        self._retired.drain_patiently()
        for stream in streams:
            stream._raise_error(clear=True)

    @final
    def can_copy_from(self, other: Device) -> bool:
        """Say whether this device's streams copy from `other` without passing through the host."""
        return other is self or self.twin.can_copy_from(_twin("can_copy_from", other))

    @final
    def can_copy_to(self, other: Device) -> bool:
        """Say whether this device's streams copy to `other` without passing through the host."""
        return other is self or self.twin.can_copy_to(_twin("can_copy_to", other))

    @final
    def can_access(self, other: Device) -> bool:
        """Say whether this device's kernels read the memory of `other`."""
        return other is self or self.twin.can_access(_twin("can_access", other))

    @final
    def close(self) -> None:
        """Close the device; its name may be opened again. Idempotent.

        All memory goes back to the provider. Raises EpError, naming them, while streams or memories of it are open.
        """
        self._check_fork("close")
        if self.is_closed:
            return
        check_outside("close")
        check_may_wait("close")
        self._retired.wait_for_orphans()
        self._retired.drain()
        living = sorted(stream.name for stream in self._open_streams())
        memories = leaks.describe(self._heap.pool.blocks())
        if living or memories:
            message = f"{self.name}.close: still open are {', '.join([*living, memories] if memories else living)}; close them first"
            raise EpError(message)
        self._retired.wait_for_streams()  # of other devices, which may still touch what was closed
        self._shut()

    @final
    def _unfinished(self) -> list[Stream]:
        """Return all streams that are not closed, dropped ones with work under way among them."""
        # A dropped stream that was adopted is still known to those that refer to it weakly, and so stands in both lists.
        return [*dict.fromkeys([*self._open_streams(), *self._retired.orphans()])]

    @final
    def _close_memories(self) -> None:
        """Close and free all memories, after the streams: the second of three steps at the end of the process."""
        blocks = self._heap.pool.blocks()
        leaks.warn(self.name, [block for block in blocks if block.device is self and not block.is_lent])
        for block in blocks:
            block.close()
        self._retired.drain_all()
        self._heap.pool.trim()

    @final
    def _shut(self) -> None:
        """Close the device itself, its streams and memories being closed."""
        self._primitives.clear()
        self._retired.drain_all()
        self._heap.pool.trim()
        self.is_closed = True
        self.provider._forget(self)
        self.twin.close()

    @final
    def _open_streams(self) -> list[Stream]:
        return [stream for stream in self._streams.living() if not stream.is_closed]

    @final
    def wrap_stream(self, handle: Any, *, owner: object) -> Stream:
        """Return a stream over a native in-order queue of this device that another library made and will close.

        handle : the provider's handle of a queue
        owner  : kept until the stream is closed; closing waits for the queue and leaves it open

        Raises ValueError for a handle that is no such queue, UnsupportedError where the provider wraps none.
        """
        return wrap_stream(self, handle, owner)

    @property
    def native_calls(self) -> int | None:
        """How many driver calls this device has made so far; None if the provider does not count them."""
        return self.twin.native_calls

    @property
    @final
    def compiles(self) -> int:
        """How often implementations have compiled code for this device, in this process."""
        return self._primitives.compiles

    # What EP itself calls.

    @final
    def _require_open(self, operation: str) -> None:
        if self._pid != getpid():
            self._check_fork(operation)
        check_outside(operation)
        if self.is_closed:
            message = f"{operation}: {self.name} was closed; ep.device({self.name!r}) opens it again"
            raise ClosedError(message)

    @final
    def _check_fork(self, operation: str) -> None:
        if self._pid != getpid():
            message = f"{operation}: {self.name} was made before fork(); open devices in the child"
            raise ClosedError(message)

    @final
    def _instantiate(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> Executable:
        """Return captured work made ready to run: the provider's, or a replay, node after node."""
        made = self._native_graph(nodes, slots)
        if made is None:
            self._degrade("graph")
            return Replay(nodes, slots)
        return made

    @final
    def _native_graph(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> Executable | None:
        """Return what the provider makes of the nodes, None if it makes nothing of them, as of collectives.

        Raises TypeError for anything else.
        """
        if any(node.is_collective for node in nodes):  # no driver's graph waits for other ranks
            return None
        made = self.twin.instantiate(nodes, slots)
        if made is not None and not isinstance(made, Executable):
            message = (
                f"{type(self.twin).__name__}.instantiate returned {glimpse(made)}, needs an ep.Executable, or None"
            )
            raise TypeError(message)
        return made

    @final
    def _over(self, make: Callable[[Ledger], spi.Stream]) -> Stream:
        """Return a stream over the provider's. The end of the process does not wait for it before `_enlist`."""
        ledger = Ledger(self)
        twin = make(ledger)
        if SpiStream not in type(twin).__mro__ or getattr(twin, "ledger", None) is not ledger:
            message = f"{type(self.twin).__name__}: a stream of {self.name} is {glimpse(twin)}, needs a new ep.spi.Stream made with the ledger given"
            raise TypeError(message)
        stream = self.provider._stream_type(self, twin, ledger)
        if type(twin) is Worker:
            doors.put(stream, "worker", worker.leave)
        return stream

    @final
    def _borrow(self, handle: Any) -> Stream:
        """Return a stream over another library's native queue, without enlisting it."""
        return self._over(lambda ledger: self.twin.wrap_stream(ledger, handle))

    @final
    def _enlist(self, stream: Stream) -> Stream:
        """Name a new stream, and note that it may touch this device's memory."""
        stream.name = stream._ledger.name = f"{self.name}/stream{next(self._numbers)}"
        self._streams.add(stream)
        self._retired.enrol(stream)
        stream._is_enlisted = True
        if validation.is_on():
            validation.watch(stream)
        return stream

    @final
    def _degrade(self, ability: str) -> None:
        counts = self.degraded
        counts.setdefault(ability, 0)
        with OWNERSHIP.lock:  # an asynchronous stream's worker degrades, too
            counts[ability] += 1

    @final
    def _after_fork(self) -> None:
        for stream in self._streams.living():
            doors.put(stream, "fork", doors.refuse_fork)
        # The look-up of a descriptor asks the cache alone: an empty cache makes it reach _require_open.
        self._primitives = PrimitiveCache(self)

    def __repr__(self) -> str:
        return f"<Device {self.name}: {self.info.name}>"


def _twin(operation: str, other: Any) -> spi.Device:
    if not isinstance(other, Device):
        message = f"{operation}: other is {glimpse(other)}, needs a Device; ep.device('cpu:0') finds one"
        raise TypeError(message)
    return other.twin
