"""An Allocator is a device as the source of its memory."""

from __future__ import annotations

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
from ep.spi.device import Device as SpiDevice
from ep.uncopied import Uncopied

if TYPE_CHECKING:
    from ep.device import Device
    from ep.segment import Freed

__all__ = ["Allocator"]

_END: Final = 2**63


class Allocator(Uncopied):
    """What a device does with memory; `Device` adds streams, primitives and its own life.

    twin         : the provider's device
    info         : a DeviceInfo
    memory_kinds : the kinds that allocate() takes
    """

    def __init__(self, twin: SpiDevice, name: str) -> None:
        self.twin = twin
        self.name = name
        self.info = twin.info
        self.memory_kinds = twin.memory_kinds
        self.is_closed = False
        self._pid = getpid()
        self._pool = Pool(self)
        self._retired = RetireList(self._pool)

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
            total, free = self.twin.memory_info()
        except UnsupportedError:
            total, free = self.info.memory or None, None
        pool = self._pool
        return MemoryInfo(
            total,
            free,
            pool.in_use,
            pool.reserved,
            pool.peak,
            pool.hits,
            pool.misses,
            budget=pool.budget,
            workspace=self.twin.workspace_nbytes,
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
        return type(self.twin).wrap_host is not SpiDevice.wrap_host

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
