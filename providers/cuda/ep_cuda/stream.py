"""CudaStream: a stream of the driver's."""

from __future__ import annotations

import functools
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.locks import drop, first

import ep
from ep_cuda.driver import ffi
from ep_cuda.errors import NOT_READY
from ep_cuda.event import CudaEvent
from ep_cuda.foreign import DEFAULTS
from ep_cuda.gate import Gate
from ep_cuda.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda.device import CudaDevice

__all__ = ["CudaStream", "ForeignStream", "new_stream"]

# It takes turns with the legacy default stream: a consumer of a capsule that names no stream waits in that one.
_BLOCKING: Final = 0  # CU_STREAM_DEFAULT
_MEMORY_TYPE: Final = 2  # CU_POINTER_ATTRIBUTE_MEMORY_TYPE

_SETS: Final = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}


def new_stream(device: CudaDevice, priority: int, flags: int = _BLOCKING) -> Any:
    """Return a new stream of the driver's, as urgent as the driver's range allows. Raises DeviceError."""
    with device.context as driver:
        lowest, highest = ffi.new("int *"), ffi.new("int *")
        driver.call("cuCtxGetStreamPriorityRange", lowest, highest)  # the smaller number is the more urgent
        native = min(max(-priority, highest[0]), lowest[0])
        return driver.answer("cuStreamCreateWithPriority", "CUstream", flags, native)


class CudaStream(ep.spi.Stream):
    """A stream of EP's own.

    native : the driver's
    launch : cuLaunchKernel, for kernels of libraries: it returns the driver's code
    calls  : driver calls made for it so far
    trail  : its work that was not seen done
    """

    wakes_host: ClassVar[bool] = True

    def __init__(
        self, device: CudaDevice, ledger: ep.spi.Ledger, native: Any, *, is_synchronous: bool, is_timed: bool
    ) -> None:
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.device = device
        self.native = native
        # A default stream is of whichever context is current, any other has one.
        self.launch: Callable[..., int] = (
            functools.partial(_launch_in_context, device)
            if int(ffi.cast("uintptr_t", native)) in DEFAULTS
            else device.context.functions.cuLaunchKernel
        )
        self.calls = 0
        self.trail = Trail(self)
        self._host: ep.HostThread | None = None
        self._waiter: ep.spi.Waiter | None = None
        self._gates: deque[Gate] = deque()
        self._lent: deque[tuple[CudaEvent, Any, int]] = deque()  # buffers with their bytes, free when the event is done

    def is_captured(self) -> bool:
        """Say whether others record its work at present, as PyTorch's graphs do."""
        return False

    def enqueue(self, name: str, *arguments: Any) -> None:
        """Enqueue by a function of the driver's that takes the stream last: the checked door of this stream."""
        with self.device.context as driver:
            status = getattr(driver.functions, name)(*arguments, self.native)
        self.placed(name, status)

    def placed(self, name: str, status: int) -> None:
        """Take note of work that was enqueued, or of the code with which that failed; a synchronous stream waits for it."""
        if not status:
            self.trail.add(self.ledger.ticket())
        self.marked(name, status)

    def marked(self, name: str, status: int) -> None:
        """Take note of an event or a wait, from any thread, as `placed` does of work."""
        self.calls += 1
        if status:
            raise self.device.failed(status, name)
        if self.is_synchronous:
            self.synchronize()

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview):
            assert isinstance(src, ep.Memory)
            self._transfer("download", src, dst)
        elif isinstance(src, memoryview):
            self._transfer("upload", dst, src)
        elif dst.device is src.device or {dst.kind, src.kind} != {ep.MemoryKind.DEVICE}:
            self.enqueue("cuMemcpyAsync", dst.handle + dst.offset, src.handle + src.offset, nbytes)
        else:
            self._copy_between(dst, src, nbytes)

    def _copy_between(self, dst: ep.Memory, src: ep.Memory, nbytes: int) -> None:
        """Copy between two devices: straight where one of them reaches the other, else through the driver's own staging."""
        to: Any = dst.device.twin
        of: Any = src.device.twin
        self.device.peers.reach(of if to is self.device else to)
        sides = dst.handle + dst.offset, to.context.native, src.handle + src.offset, of.context.native
        self.enqueue("cuMemcpyPeerAsync", *sides, nbytes)

    def upload_constant(self, dst: ep.Memory, src: memoryview, nbytes: int) -> None:
        if ep.spi.is_working():  # a finalizer on the host's thread: see _transfer, which reads its bytes later
            self._transfer("upload", dst, memoryview(bytes(src)))
            return
        host, place = ffi.from_buffer(src), dst.handle + dst.offset
        if self.is_synchronous or nbytes > self.device.staging.largest or self.is_idle():
            self._directly("upload", place, host, nbytes)
            return
        buffer = self.device.staging.take(nbytes)
        ffi.memmove(buffer, host, nbytes)
        self._directly("upload", place, buffer, nbytes)
        self._lend(buffer, nbytes)

    def _transfer(self, what: str, memory: ep.Memory, view: memoryview) -> None:
        """Copy between a memory and the host's.

        The driver reads or writes memory that it has not locked at once, and so waits for the work before. That is right
        where the stream is idle, or waits anyway. Else the host's thread moves the bytes to or from locked memory; for a
        finalizer on that thread, too, since an idle stream may get work meanwhile that this thread would have to do.
        """
        place, host = memory.handle + memory.offset, ffi.from_buffer(view, require_writable=what == "download")
        if self.is_synchronous or self._is_locked(host) or (self.is_idle() and not ep.spi.is_working()):
            self._directly(what, place, host, view.nbytes)
            return
        most = min(view.nbytes, self.device.staging.largest)
        buffer = self.device.staging.take(most)
        try:
            for at in range(0, view.nbytes, most):  # piece after piece, as the stream gets there, by way of one buffer
                self._staged(what, place + at, view[at : at + most], buffer)
        finally:
            self._lend(buffer, most)

    def _directly(self, what: str, place: int, host: Any, nbytes: int) -> None:
        if what == "download":
            self.enqueue("cuMemcpyDtoHAsync_v2", host, place, nbytes)
        else:
            self.enqueue("cuMemcpyHtoDAsync_v2", place, host, nbytes)

    def _staged(self, what: str, place: int, view: memoryview, buffer: Any) -> None:
        nbytes = view.nbytes
        host = ffi.from_buffer(view, require_writable=what == "download")
        if what == "download":
            self._directly(what, place, buffer, nbytes)
            self._let_host(functools.partial(ffi.memmove, host, buffer, nbytes))
        else:
            self._let_host(functools.partial(ffi.memmove, buffer, host, nbytes))
            self._directly(what, place, buffer, nbytes)

    def _lend(self, buffer: Any, nbytes: int) -> None:
        """Leave a buffer to the work so far, and give back those that no work uses any more."""
        self._lent.append((self.record(timed=False), buffer, nbytes))
        self._reclaim()

    def _reclaim(self) -> None:
        while (lent := first(self._lent)) and lent[0].is_done():
            if drop(self._lent, lent):  # else a handler gave it back
                self.device.staging.give(*lent[1:])

    def _is_locked(self, host: Any) -> bool:
        kind = ffi.new("unsigned int *")
        with self.device.context as driver:
            return not driver.functions.cuPointerGetAttribute(kind, _MEMORY_TYPE, ffi.cast("CUdeviceptr", host))

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        place, width = dst.handle + dst.offset, len(pattern)
        if width in _SETS:
            self.enqueue(_SETS[width], place, int.from_bytes(pattern, "little"), dst.nbytes // width)
            return
        for at in range(0, width, 4):  # a column of words, as far apart as the pattern is long
            word = int.from_bytes(pattern[at : at + 4], "little")
            self.enqueue("cuMemsetD2D32Async", place + at, width, word, 1, dst.nbytes // width)

    def record(self, *, timed: bool) -> CudaEvent:
        native = self.device.event(timed=timed)
        with self.device.context as driver:
            status = driver.functions.cuEventRecord(native, self.native)
        self.marked("cuEventRecord", status)
        return CudaEvent(self, native, self.device.spare_events(timed=timed))

    def can_wait(self, event: ep.Event) -> bool:
        del event
        return True

    def wait(self, event: ep.Event) -> None:
        if self.is_synchronous:  # here and not in the driver, where Ctrl-C does not reach
            ep.spi.let_host_wait(self, event)
        elif isinstance(event.twin, CudaEvent):
            with self.device.context as driver:
                status = driver.functions.cuStreamWaitEvent(self.native, event.twin.native, 0)
            self.marked("cuStreamWaitEvent", status)
        else:
            self._let_host(event._wait_done)  # noqa: SLF001 - what EP's own default calls

    def call(self, function: Callable[[], object]) -> None:
        if self.is_synchronous:
            function()
        else:
            self._let_host(function)

    def _let_host(self, task: Callable[[], object]) -> None:
        """Hold back later work until the host's thread has waited for the earlier and done a task."""
        gate = Gate(self)
        self._gates.append(gate)
        before = self.record(timed=False)
        # The thread first: if Ctrl-C comes, or a handler with a task of its own, the stream waits for nothing that nobody does.
        self._thread.do(functools.partial(_pass, gate, before, task, self._fail, self._gates))
        gate.wait()
        self._lend(gate.address, gate.nbytes)

    @property
    def _thread(self) -> ep.HostThread:
        if self._host is None:
            self._host = ep.HostThread(f"{self.ledger.name} host")
        return self._host

    def dlpack_stream(self) -> int:
        return int(ffi.cast("uintptr_t", self.native))

    def is_idle(self) -> bool:
        if self.device.is_lost:
            return True
        with self.device.context as driver:
            status = driver.functions.cuStreamQuery(self.native)
        if status and status != NOT_READY:
            self.hear("cuStreamQuery", status)
        if not status:
            self.trail.clear()
            self._reclaim()
        return bool(status != NOT_READY)

    def pause(self, seconds: float) -> None:
        self.rest(seconds, functools.partial(self.device.context.wait, "cuStreamSynchronize", self))

    def rest(self, seconds: float, wait: Callable[[], object]) -> None:
        """Let the host rest until a wait in the driver is over, `seconds` at most."""
        if self._waiter is None:
            self._waiter = ep.spi.Waiter(f"{self.ledger.name} waiter")
        self._waiter.rest(seconds, wait)

    def synchronize(self) -> None:
        if self.device.is_lost:
            raise self.device.failed(self.device.lost_by, "cuStreamSynchronize")
        self.calls += 1
        with self.device.context as driver:
            status = driver.functions.cuStreamSynchronize(self.native)
        if status:
            raise self.device.failed(status, "cuStreamSynchronize")
        self.trail.clear()
        self._reclaim()

    def hear(self, name: str, status: int) -> None:
        """Take over the code of work that failed, for the next synchronisation."""
        self._fail(self.device.failed(status, name))

    def _fail(self, error: BaseException) -> None:
        self.ledger.failed(None, error)

    def abandon(self) -> None:
        for gate in [*self._gates]:
            gate.open()

    def close(self) -> None:
        self._reclaim()
        for thread in (self._host, self._waiter):
            if thread is not None:
                thread.close()
        self.trail.close()
        self._destroy()
        self.device.forget(self)

    def _destroy(self) -> None:
        with self.device.context as driver:
            driver.functions.cuStreamDestroy_v2(self.native)


class ForeignStream(CudaStream):
    """A stream that others made and will destroy."""

    def is_captured(self) -> bool:
        status = ffi.new("int *")
        with self.device.context as driver:
            code = driver.functions.cuStreamIsCapturing(self.native, status)
        return not code and status[0] != 0

    def _destroy(self) -> None:
        """Leave it open."""


def _launch_in_context(device: CudaDevice, *arguments: Any) -> int:
    with device.context as driver:
        return int(driver.functions.cuLaunchKernel(*arguments))


def _pass(
    gate: Gate,
    before: CudaEvent,
    task: Callable[[], object],
    fail: Callable[[BaseException], None],
    gates: deque[Gate],
) -> None:
    gate.do(before, task, fail)
    gates.remove(gate)
