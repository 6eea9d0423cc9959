"""The CPU device: memory is host memory, and a handle is cffi's `char *` to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cpu.graph import CommandList, commands_of
from ep_cpu.host import memory_available, memory_size, processor_name
from ep_cpu.stream import CpuStream

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["ALIGNMENT", "CpuDevice"]

ALIGNMENT: Final = 512
_LARGE: Final = 64 << 20  # from here on asking for the free memory, 20 us, takes less time than touching the pages
_FEATURES: Final = frozenset({"fp16", "fp64", "host-memory", "rounded-divide-sqrt"})
_FUSING: Final = frozenset({"avx2", "avx512", "amx"})
"""The instruction sets whose kernels are compiled with EP_FMA 1: `native/isa`."""


class CpuDevice(ep.spi.Device):
    """The host. Its kernels reach all host memory, and the host reaches its memory, which is of every kind at once."""

    def __init__(self, native: Native) -> None:
        model, vendor = processor_name()
        super().__init__(
            ep.DeviceInfo(
                name=model,
                vendor=vendor,
                driver=f"ep_cpu {native.isa}",
                memory=memory_size(),
                memory_kinds=frozenset(ep.MemoryKind),
                compute_units=native.lib.ep_threads(),
                alignment=ALIGNMENT,
                dtypes=frozenset(dtype for row in native.rows for dtype in row[2:]),
                features=_FEATURES | ({"fused-multiply-add"} if native.isa in _FUSING else frozenset()),
            )
        )
        self.native = native
        self._sizes: dict[Any, int] = {}
        self._reserved = 0
        self._counting = threading.Lock()

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Any:
        del kind
        # The system grants more memory than it has and kills processes that use it. So all reservations stay within its
        # memory, and a large one within the part of it that is free now.
        available = memory_available() if nbytes >= _LARGE else None
        with self._counting:
            free = self.info.memory - self._reserved
            if available is not None and available < free:
                free = available
            fits = nbytes <= free
            if fits:
                self._reserved += nbytes
        if fits:
            handle = self.native.lib.ep_allocate(nbytes, ALIGNMENT)
            if handle:
                self._sizes[handle] = nbytes
                return handle
            with self._counting:
                self._reserved -= nbytes
        reserved = self._reserved
        message = f"{self.name}: no room for {nbytes} bytes; {free} are free, {reserved} of {self.info.memory} reserved"
        raise ep.OutOfMemoryError(
            message, requested=nbytes, free=free, reserved=reserved, provider="cpu", call="ep_allocate"
        )

    def free(self, handle: Any, kind: ep.MemoryKind) -> None:
        del kind
        nbytes = self._sizes.pop(handle)
        with self._counting:
            self._reserved -= nbytes
        self.native.lib.ep_free(handle)

    def memory_info(self) -> tuple[int, int]:
        available = memory_available()
        unreserved = self.info.memory - self._reserved
        return self.info.memory, unreserved if available is None else min(unreserved, available)

    @property
    def workspace_nbytes(self) -> int:
        nbytes: int = self.native.lib.ep_workspace()
        return nbytes

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> ep.spi.Stream:
        del priority
        stream = CpuStream(ledger, self.native, is_timed=timed)
        return ep.spi.Worker(stream) if synchronous is False else stream

    def host(self, handle: Any, nbytes: int) -> memoryview:
        return memoryview(self.native.ffi.buffer(handle, nbytes)).cast("B")

    def wrap_host(self, address: int, nbytes: int) -> Any:
        del nbytes
        return self.native.ffi.cast("char *", address)

    def wrap_memory(self, handle: int, nbytes: int) -> Any:
        return self.wrap_host(handle, nbytes)

    def dlpack_device(self) -> tuple[int, int]:
        return (1, 0)

    def address(self, handle: Any) -> int:
        ffi = self.native.ffi
        if not isinstance(handle, ffi.CData):
            message = f"{self.name}: {type(handle).__name__} is no handle of it, which are pointers of cffi"
            raise TypeError(message)
        return int(ffi.cast("intptr_t", handle))

    def instantiate(self, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> ep.Executable | None:
        commands = commands_of(self.native, nodes, slots)
        return None if commands is None else CommandList(self.native, nodes, slots, commands)

    @property
    def native_calls(self) -> int:
        """How many kernels, copies and fills this process has entered so far."""
        count: int = self.native.lib.ep_calls()
        return count
