"""An Allocator is a device as the source of its memory: what users ask of it, and what its provider writes for that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import getpid
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final

from ep.callback import check_outside, is_working
from ep.errors import ClosedError, UnsupportedError
from ep.foreign import require_sound, wrap_host, wrap_memory
from ep.glimpse import glimpse
from ep.integers import count
from ep.memory import Block, Memory, MemoryKind
from ep.pool import MemoryInfo, Pool
from ep.retire import RetireList
from ep.uncopied import Uncopied

if TYPE_CHECKING:
    from ep.device import Device, DeviceInfo
    from ep.segment import Freed

__all__ = ["Allocator"]

_END: Final = 2**63
_STEPS_BITS: Final = 4  # of the exponent: 2**(4 - 1) lengths from one power of two to the next


class Allocator(Uncopied, ABC):
    """What a device does with memory; `Device` adds streams, primitives and its own life.

    memory_kinds : the kinds that allocate() takes
    """

    name: str
    memory_kinds: frozenset[MemoryKind] = frozenset({MemoryKind.DEVICE})

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info
        self.name = info.name
        self.is_closed = False
        self._pid = getpid()
        parks = type(self)._park is not Allocator._park or type(self)._unpark is not Allocator._unpark
        self._pool = Pool(self, parks=parks)
        self._retired = RetireList(self._pool)

    # What users call. Final: each validates and then calls the twin of its name.

    @final
    def allocate(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> Memory:
        """Return `nbytes` bytes of memory, aligned to info.alignment, contents undefined; 0 is legal.

        Every stream and, where the kind lets it, the host may use it at once. It comes from the device's pool, if that
        has a segment of the size class ready.

        Raises OutOfMemoryError, after which the device still works; UnsupportedError for a kind that it lacks.
        """
        return self._allocate_for(None, nbytes, kind)

    @final
    def memory_info(self) -> MemoryInfo:
        """Return what became of the memory; what was closed and no stream can touch any more is not in use."""
        self._require_open("memory_info")
        self._retired.drain()
        total: int | None
        free: int | None
        try:
            total, free = self._memory_info()
        except UnsupportedError:
            total, free = self.info.memory or None, None
        pool = self._pool
        return MemoryInfo(
            total, free, pool.in_use, pool.reserved, pool.peak, pool.hits, pool.misses, budget=pool.budget
        )

    @final
    def trim(self) -> int:
        """Give the provider back what lies ready in the pool, and return its bytes. Waits for no stream."""
        self._require_open("trim")
        self._retired.drain()
        return self._pool.trim()

    @property
    def budget(self) -> int | None:
        """The most bytes that may be reserved, None for no limit. What lies ready beyond it is given back at once.

        An allocation that does not fit waits for what was closed, gives back what lies ready, and then raises
        OutOfMemoryError. Lowering the budget takes nothing away from who has it.
        """
        return self._pool.budget

    @budget.setter
    def budget(self, nbytes: int | None) -> None:
        self._require_open("budget")
        if nbytes is not None:
            nbytes = count("budget: nbytes", nbytes)
            self._retired.drain()
            self._pool.trim(max(nbytes - self._pool.in_use, 0))
        self._pool.budget = nbytes

    @final
    def wrap_host(self, address: int, nbytes: int, owner: object, *, is_read_only: bool = False) -> Memory:
        """Return memory at a host address that this device reaches; `owner` is kept until no work can touch it.

        is_read_only : True: whatever would write it is refused with a ValueError

        Raises UnsupportedError where the device does not reach host memory.
        """
        if self.reaches_host:
            require_sound(cast("Device", self), "wrap_host: address", address, nbytes)
        return wrap_host(cast("Device", self), address, nbytes, owner, is_read_only=is_read_only)

    @final
    def wrap_memory(self, handle: Any, nbytes: int, *, owner: object, is_read_only: bool = False) -> Memory:
        """Return the first `nbytes` bytes of a native allocation of this device, which others made and will free.

        handle       : what the provider calls an allocation; where that is a host address this is wrap_host. Where it is
                       an object of the driver, that object: its pointer as a number is refused
        owner        : kept until no work can touch the bytes
        is_read_only : True: whatever would write them is refused with a ValueError

        Raises ValueError for what is not an allocation of this device, UnsupportedError where nothing can be wrapped.
        """
        require_sound(cast("Device", self), "wrap_memory: handle", handle, nbytes)
        return wrap_memory(cast("Device", self), handle, nbytes, owner, is_read_only=is_read_only)

    @property
    @final
    def reaches_host(self) -> bool:
        """True if kernels of this device may be given host memory."""
        return type(self)._wrap_host is not Allocator._wrap_host

    # What a provider must write.

    @abstractmethod
    def _allocate(self, nbytes: int, kind: MemoryKind) -> Any:
        """Return a handle for nbytes > 0 of memory aligned to info.alignment. Raises OutOfMemoryError.

        The pool asks for whole size classes and keeps what comes back; kind is one of memory_kinds.
        """

    @abstractmethod
    def _free(self, handle: Any, kind: MemoryKind) -> None:
        """Free what _allocate returned; no enqueued work touches it."""

    # What a provider may write.

    def _memory_info(self) -> tuple[int, int]:
        """Return how many bytes the device has, and how many it could still give."""
        message = f"{self.name} does not tell what is free"
        raise UnsupportedError(message)

    def _segment_size(self, nbytes: int) -> int:
        """Return the length of the segments that serve `nbytes` > 0 bytes, its own one's length for each length.

        Default: 8 lengths from one power of two to the next, at least info.alignment apart, so that a segment serves
        many requests and at most an eighth of it is never asked for. Where overruns are to be noticed: nbytes itself.
        """
        step = max(self.info.alignment, 1 << max((nbytes - 1).bit_length() - _STEPS_BITS, 0))
        return -(-nbytes // step) * step

    def _park(self, handle: Any, kind: MemoryKind) -> None:
        """Take note that an allocation lies ready in the pool: no enqueued work touches it. Raises nothing."""

    def _unpark(self, handle: Any, nbytes: int, kind: MemoryKind) -> None:
        """Take note that an allocation that was parked serves `nbytes` bytes now. Raises nothing."""

    def _host(self, handle: Any, nbytes: int) -> memoryview:
        """Return a whole allocation as a flat writable memoryview of bytes. Raises UnsupportedError.

        PINNED and SHARED memory is always reached by the host; the default reaches none.
        """
        del handle, nbytes
        message = f"memory.host: the host does not reach this memory of {self.name}; use stream.download"
        raise UnsupportedError(message)

    def _wrap_host(self, address: int, nbytes: int) -> Any:
        """Return a handle for host memory, where kernels reach it."""
        message = f"{self.name} does not reach host memory ({nbytes} bytes at {glimpse(address)}); use stream.upload"
        raise UnsupportedError(message)

    def _wrap_memory(self, handle: Any, nbytes: int) -> Any:
        """Return the handle of a foreign native allocation of at least nbytes, given as it or by DLPack's data pointer."""
        message = f"{self.name} wraps no memory of others ({nbytes} bytes, {glimpse(handle)}); use stream.upload"
        raise UnsupportedError(message)

    def _dlpack_device(self) -> tuple[int, int]:
        """Return DLPack's (device type, device index) of this device's memory."""
        message = f"{self.name} has no DLPack device type; use stream.download"
        raise UnsupportedError(message)

    def _address(self, handle: Any) -> int:
        """Return DLPack's data pointer of an allocation: its address, or the name of an object."""
        message = f"{self.name} shows nobody where its memory is ({glimpse(handle)}); use stream.download"
        raise UnsupportedError(message)

    # What EP itself calls.

    @final
    def _allocate_for(self, freed: Freed | None, nbytes: int, kind: MemoryKind) -> Memory:
        """Allocate, in the order of the stream that has `freed` if there is one."""
        self._require_open("allocate")
        if type(nbytes) is not int or not 0 <= nbytes < _END:
            nbytes = count("allocate: nbytes", nbytes)
        if type(kind) is not MemoryKind or kind not in self.memory_kinds:
            self._refuse_kind(kind)
        self._retired.drain()
        block = Block(self, nbytes)  # type: ignore[arg-type]  # a Device, as all are
        self._pool.take(block, kind, freed)
        return Memory(block, 0, nbytes, is_view=False)

    @final
    def _refuse_kind(self, kind: Any) -> NoReturn:
        if not isinstance(kind, MemoryKind):
            message = f"allocate: kind {glimpse(kind)} is not a MemoryKind"
            raise TypeError(message)
        there = ", ".join(sorted(each.name for each in self.memory_kinds))
        message = f"allocate: {self.name} has no memory of kind {kind.name}; there is {there}"
        raise UnsupportedError(message)

    @final
    def _has_closed(self) -> bool:
        """Say whether memory was closed that is not back yet."""
        return len(self._retired) > 0

    @final
    def _wait_for_closed(self) -> None:
        """Wait until all that was closed is back in the pool, as far as this thread may wait."""
        if not is_working():
            self._retired.wait_for_streams()
        self._retired.drain_patiently()

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
