"""CudaDevice: one device with its primary context, memory and programs."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Final

import ep_simt
from ep.ground.roster import Roster
from ep.stream.validation import is_on
from ep.work.cache import LRU

import ep
from ep_cuda import foreign
from ep_cuda.compiler.program import image_of
from ep_cuda.cublas.library import CublasLt
from ep_cuda.description import architecture, describe
from ep_cuda.driver import Context, driver, ffi
from ep_cuda.errors import failure, is_loss
from ep_cuda.function import CudaFunction
from ep_cuda.graph import CudaGraph
from ep_cuda.peers import Peers
from ep_cuda.staging import Staging
from ep_cuda.stream import CudaStream, ForeignStream, new_stream

__all__ = ["CudaDevice"]

_DLPACK_CUDA: Final = 2  # kDLCUDA, dlpack.h
_NO_BINARY: Final = 209  # CUDA_ERROR_NO_BINARY_FOR_GPU
_NO_TIMING: Final = 2  # CU_EVENT_DISABLE_TIMING
_GLOBAL: Final = 1  # CU_MEM_ATTACH_GLOBAL
_PORTABLE_MAPPED: Final = 3  # CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP


class CudaDevice(ep.spi.Device):
    """One CUDA device; its handles are addresses, which host and device call by the same number.

    ordinal      : its number of the driver's
    architecture : its compute capability, as 10 * major + minor
    target       : how it likes portable kernels to be cut
    peers        : the devices whose memory it reaches
    lost_by      : the code by which the driver gave the device up, 0 if it did not
    """

    target = ep_simt.GPU

    def __init__(self, ordinal: int) -> None:
        """Describe a device. Raises DeviceError."""
        opened = driver()
        native = opened.answer("cuDeviceGet", "CUdevice", ordinal)
        super().__init__(describe(opened, native))
        self.ordinal = ordinal
        self.architecture = architecture(opened, native)
        self.lost_by = 0
        self._suspects: list[ep.spi.Ticket] = []
        self.peers = Peers(self)
        self._native = native
        self._takes_ptx = False  # a driver without a GPU, as the emulated one, translates
        self._libraries: LRU[ep_simt.Program, Any] = LRU()
        self._loaded: list[Any] = []  # until the end: a function may be under way after its program has left the cache
        self._open: Roster[CudaStream] = Roster()
        self._events: dict[bool, deque[Any]] = {True: deque(), False: deque()}
        self._turn = threading.RLock()
        self._context: Context | None = None
        self._staging: Staging | None = None
        self._cublaslt: CublasLt | None = None
        self._counting = threading.RLock()
        self._calls = 0

    @property
    def context(self) -> Context:
        """The primary context, retained when it is first needed: listing devices makes none."""
        return self._context or self._retained()

    def _retained(self) -> Context:
        with self._turn:
            if self._context is None:
                self.count()
                self._context = Context(self._native, self.failed)
            return self._context

    @property
    def staging(self) -> Staging:
        """Locked host memory for copies."""
        with self._turn:
            if self._staging is None:
                self._staging = Staging(self.context)
            return self._staging

    @property
    def cublaslt(self) -> CublasLt:
        """NVIDIA's library of products, opened when it is first needed. Raises UnavailableError."""
        with self._turn:
            if self._cublaslt is None:
                self._cublaslt = CublasLt(self.context)
            return self._cublaslt

    @property
    def is_lost(self) -> bool:
        """True once the driver has given the device up."""
        return bool(self.lost_by)

    def failed(self, status: int, name: str, requested: int = 0) -> ep.DeviceError:
        """Return the error for the code of a call, and take note if the device is lost, and by which enqueues perhaps."""
        if is_loss(status) and not self.lost_by:
            self.lost_by = status
            self._suspects = [ticket for stream in self._open.living() for ticket in stream.trail.suspects()]
        return failure(name, status, driver().name_of(status), requested, self._suspects)

    def function(self, program: ep_simt.Program, entry: ep_simt.Entry) -> CudaFunction:
        """Return an entry that can be launched. Raises CompileError."""
        return CudaFunction(self, program, entry)

    def library(self, program: ep_simt.Program) -> Any:
        """Return the driver's library of a program, compiled once for all kernel keys that share it. Raises CompileError."""
        return self._libraries.get(program, self._load)

    def _load(self, program: ep_simt.Program) -> Any:
        as_ptx = self._takes_ptx
        status, library = self._try_load(program, as_ptx=as_ptx)
        if status == _NO_BINARY and not as_ptx:  # other threads may have found the same meanwhile
            self._takes_ptx = True
            status, library = self._try_load(program, as_ptx=True)
        if status:
            raise self.failed(status, "cuLibraryLoadData")
        return library

    def _try_load(self, program: ep_simt.Program, *, as_ptx: bool) -> tuple[int, Any]:
        """Return the driver's code, and the library if that is 0."""
        image = image_of(self.architecture, program, as_ptx=as_ptx)
        place, none = ffi.new("CUlibrary *"), (ffi.NULL, ffi.NULL, 0)
        self.count()
        with self.context as opened:
            status = opened.functions.cuLibraryLoadData(place, ffi.from_buffer(image), *none, *none)
            if not status:
                self._loaded.append(place[0])
                # A driver that loads late says only here that the code is none of this device's.
                status = opened.functions.cuLibraryGetModule(ffi.new("CUmodule *"), place[0])
                if status:
                    self._loaded.remove(place[0])
                    opened.functions.cuLibraryUnload(place[0])
        return int(status), place[0]

    @property
    def native_calls(self) -> int:
        """Driver calls that allocated, loaded or enqueued."""
        return self._calls + sum(stream.calls for stream in self._open.living())

    def count(self, calls: int = 1) -> None:
        """Add calls that no open stream counts."""
        with self._counting:
            self._calls += calls

    def forget(self, stream: CudaStream) -> None:
        """Take over the count of a stream that ends."""
        with self._counting:
            self._calls += stream.calls
            stream.calls = 0

    def event(self, *, timed: bool) -> Any:
        """Return an event of the driver's that nothing else uses. Raises DeviceError."""
        try:
            return self._events[timed].pop()
        except IndexError:
            with self.context as opened:
                return opened.answer("cuEventCreate", "CUevent", 0 if timed else _NO_TIMING)

    def spare_events(self, *, timed: bool) -> deque[Any]:
        """Where events that are no longer used go."""
        return self._events[timed]

    def memory_info(self) -> tuple[int, int]:
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        with self.context as opened:
            opened.call("cuMemGetInfo_v2", free, total)
        return int(total[0]), int(free[0])

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> int:
        self.count()
        place = ffi.new("void **")
        with self.context as opened:
            functions = opened.functions
            if kind is ep.MemoryKind.DEVICE:
                name, status = "cuMemAlloc", functions.cuMemAlloc_v2(ffi.cast("CUdeviceptr *", place), nbytes)
            elif kind is ep.MemoryKind.PINNED:
                name, status = "cuMemHostAlloc", functions.cuMemHostAlloc(place, nbytes, _PORTABLE_MAPPED)
            else:
                self._require_free(nbytes)
                name = "cuMemAllocManaged"
                status = functions.cuMemAllocManaged(ffi.cast("CUdeviceptr *", place), nbytes, _GLOBAL)
        if status:
            raise self.failed(status, name, nbytes)
        return int(ffi.cast("uintptr_t", place[0]))

    def _require_free(self, nbytes: int) -> None:
        """Raise OutOfMemoryError: the driver lends more managed memory than there is, and a device that swaps may stall."""
        _, free = self.memory_info()
        if nbytes > free:
            message = f"{self.name}: {nbytes} bytes do not fit: {free} bytes of {self.info.memory} are free"
            raise ep.OutOfMemoryError(message, requested=nbytes, free=free, provider="cuda", call="cuMemAllocManaged")

    def free(self, handle: int, kind: ep.MemoryKind) -> None:
        self.count()
        functions = driver().functions
        with self.context:
            if kind is ep.MemoryKind.PINNED:
                functions.cuMemFreeHost(ffi.cast("void *", handle))
            else:
                functions.cuMemFree_v2(handle)

    def host(self, handle: int, nbytes: int) -> memoryview:
        if foreign.is_host_memory(self, handle):
            return memoryview(ffi.buffer(ffi.cast("char *", handle), nbytes)).cast("B")
        return super().host(handle, nbytes)

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> CudaStream:
        self.count()
        native = new_stream(self, priority)
        return self._opened(CudaStream(self, ledger, native, is_synchronous=bool(synchronous), is_timed=timed))

    def _opened(self, stream: CudaStream) -> CudaStream:
        self._open.add(stream)
        return stream

    def wrap_memory(self, handle: Any, nbytes: int) -> int:
        return foreign.address_of(self, handle, nbytes)

    def wrap_stream(self, ledger: ep.spi.Ledger, handle: Any) -> CudaStream:
        native = foreign.stream_of(self, handle)
        return self._opened(ForeignStream(self, ledger, native, is_synchronous=False, is_timed=True))

    def can_copy_from(self, other: ep.spi.Device) -> bool:
        return isinstance(other, CudaDevice)

    def can_copy_to(self, other: ep.spi.Device) -> bool:
        return isinstance(other, CudaDevice)

    def can_access(self, other: ep.spi.Device) -> bool:
        return isinstance(other, CudaDevice) and self.peers.reach(other)

    def instantiate(self, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> ep.Executable | None:
        if is_on():  # node after node, so that a failure names its node
            return None
        try:
            return CudaGraph(self, nodes, slots)
        except (ep.DeviceLostError, ep.OutOfMemoryError):
            raise
        except ep.DeviceError:  # a node that the driver takes in no graph
            return None

    def dlpack_device(self) -> tuple[int, int]:
        return (_DLPACK_CUDA, self.ordinal)

    def address(self, handle: int) -> int:
        return handle

    def close(self) -> None:
        self._libraries.clear()
        if self._context is None:
            return
        if self._staging is not None:
            self._staging.close()
        if self._cublaslt is not None:
            self._cublaslt.close()
        with self._context as opened:
            while self._loaded:
                opened.functions.cuLibraryUnload(self._loaded.pop())
            for events in self._events.values():
                while events:
                    opened.functions.cuEventDestroy_v2(events.pop())
        self.peers.forget()
        self._context.close()
        self._context = None
