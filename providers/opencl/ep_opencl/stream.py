"""ClStream: an in-order OpenCL queue."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pyopencl as cl
from ep.locks import drop, first

# In pyopencl.enqueue_copy a KeyboardInterrupt may come after the command and before the caller has its event.
from pyopencl._cl import _enqueue_read_buffer, _enqueue_write_buffer

import ep
from ep_opencl.errors import failure, status_of
from ep_opencl.event import ClEvent
from ep_opencl.gate import Gate
from ep_opencl.pending import Pending
from ep_opencl.waits import wait_for_event, wait_for_queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_opencl.device import ClDevice

__all__ = ["ClStream", "new_queue"]

_COMPLETE: Final = cl.command_execution_status.COMPLETE

# cl_khr_priority_hints: CL_QUEUE_PRIORITY_KHR and its values HIGH and LOW; pyopencl has no names for them.
_PRIORITY: Final = 0x1096
_HIGH, _LOW = 1, 4


def new_queue(device: ClDevice, *, is_timed: bool, priority: int = 0) -> cl.CommandQueue:
    """Return a new in-order queue; it profiles only if it is timed.

    priority : above 0 high, below 0 low, where the device has the feature "priority"
    """
    profiling = cl.command_queue_properties.PROFILING_ENABLE if is_timed else 0
    try:
        if not priority or "priority" not in device.info.features:
            return cl.CommandQueue(device.context, device.native, profiling)  # type: ignore[arg-type]  # no property is 0
        hint = _HIGH if priority > 0 else _LOW
        wanted = [cl.queue_properties.PROPERTIES, profiling, _PRIORITY, hint]
        return cl.CommandQueue(device.context, device.native, wanted)  # type: ignore[arg-type]  # pyopencl takes lists, too
    except cl.Error as error:
        raise failure(error) from error


class ClStream(ep.spi.Stream):
    """An in-order queue, its own or one that others made.

    queue  : the pyopencl queue
    calls  : OpenCL calls made for it so far
    """

    wakes_host: ClassVar[bool] = True

    def __init__(
        self, device: ClDevice, ledger: ep.spi.Ledger, queue: cl.CommandQueue, *, is_synchronous: bool
    ) -> None:
        is_timed = bool(queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.device = device
        self.queue = queue
        self.calls = 0
        self._is_flushed = True
        self._pending = Pending()
        self._mark: cl.Event | None = None
        self._transfers: deque[list[cl.Event]] = deque()
        self._host: ep.HostThread | None = None
        self._waiter: ep.spi.Waiter | None = None
        self._writes: cl.CommandQueue | None = None
        self._gates: deque[Gate] = deque()

    def enqueue(self, what: str, function: Callable[..., cl.Event], *arguments: Any, **options: Any) -> None:
        """Enqueue by a function of pyopencl that takes the queue first: the checked door of this stream."""
        try:
            event = function(self.queue, *arguments, **options)
        except cl.Error as error:
            raise failure(error) from error
        self.placed(event, what)

    def placed(self, event: cl.Event, what: str) -> None:
        """Take note of a command that was enqueued; a synchronous stream waits for it."""
        self.calls += 1
        self._is_flushed = False
        self._pending.add(event, self.ledger.ticket(what))
        if self.is_synchronous:
            self.synchronize()

    def placed_all(self, commands: list[tuple[cl.Event, int, str]]) -> None:
        """Take note of a graph's commands, each with its node and op; a synchronous stream waits for all of them."""
        self.calls += len(commands)
        self._is_flushed = False
        of = self.ledger.ticket().of
        self._pending.add_all([(event, of(node, what)) for event, node, what in commands])
        if self.is_synchronous and commands:
            self.synchronize()

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview):
            assert isinstance(src, ep.Memory)
            self._transfer("download", _enqueue_read_buffer, src.handle, dst, src.offset)
        elif not isinstance(src, memoryview):
            places = {"byte_count": nbytes, "dst_offset": dst.offset, "src_offset": src.offset}
            self.enqueue("copy", cl.enqueue_copy, dst.handle, src.handle, **places)
        elif self.device.reads_early and not self.is_synchronous and not self.is_idle():
            self._let_host("upload", functools.partial(self._upload_now, dst, src))
        else:
            self.upload_constant(dst, src, nbytes)

    def upload_constant(self, dst: ep.Memory, src: memoryview, nbytes: int) -> None:
        del nbytes
        self._transfer("upload", _enqueue_write_buffer, dst.handle, src, dst.offset)

    def _upload_now(self, dst: ep.Memory, src: memoryview) -> None:
        """Write host memory by a queue of its own, while this one is held back."""
        try:
            if self._writes is None:
                self._writes = new_queue(self.device, is_timed=False)
            cl.enqueue_copy(self._writes, dst.handle, src, dst_offset=dst.offset, is_blocking=True)
        except cl.Error as error:
            raise failure(error) from error

    def _transfer(
        self, what: str, function: Callable[..., cl.Event], buffer: cl.Buffer, host: memoryview, at: int
    ) -> None:
        # pyopencl's event of a host transfer waits, with the interpreter's lock, when it is dropped: never before it is
        # done, or a function of the host that the queue waits for could not end. So it is kept in one step, without a
        # moment for Ctrl-C in between.
        kept: list[cl.Event] = []
        self._transfers.append(kept)
        arguments = (self.queue, buffer, host, at, None, False)  # neither events to wait for nor blocking
        try:
            kept.extend(itertools.starmap(function, (arguments,)))
        except cl.Error as error:
            raise failure(error) from error
        finally:
            if not kept:
                self._transfers.remove(kept)
        self.placed(kept[0], what)
        self._pending.sweep()
        self._drop_transfers()

    def _drop_transfers(self) -> None:
        transfers = self._transfers
        while (kept := first(transfers)) and status_of(kept[0]) <= _COMPLETE:
            drop(transfers, kept)

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        self.enqueue("fill", cl.enqueue_fill_buffer, dst.handle, pattern, dst.offset, dst.nbytes)

    def record(self, *, timed: bool) -> ClEvent:
        del timed
        # No command of `pending`: the retire list records from other threads, and those are in the queue's order.
        try:
            mark = cl.enqueue_marker(self.queue)
            self.calls += 1
            self._mark = mark
            if self.is_synchronous:
                self.queue.finish()
        except cl.Error as error:
            raise failure(error) from error
        self._flush()
        return ClEvent(self, mark)

    def can_wait(self, event: ep.Event) -> bool:
        del event
        return True

    def wait(self, event: ep.Event) -> None:
        if self.is_synchronous:  # here and not in the driver, where Ctrl-C does not reach
            ep.spi.let_host_wait(self, event)
        elif event.device is self.ledger.device and isinstance(event.twin, ClEvent):
            self.enqueue("wait", cl.enqueue_barrier, [event.twin.native])
        else:
            self._let_host("wait", event._wait_done)  # noqa: SLF001 - likewise

    def call(self, function: Callable[[], object]) -> None:
        if self.is_synchronous:
            function()
        else:
            self._let_host("call", function)

    def _let_host(self, what: str, task: Callable[[], object]) -> None:
        """Hold back later commands until the host's thread has waited for the earlier ones and done a task."""
        host = ep.HostThread(f"{self.ledger.name} host")
        if self._host is None:
            self._host = host
        gate = Gate(self.queue)
        self._gates.append(gate)
        self.calls += 2
        # The thread first: if Ctrl-C comes, no barrier is left that nothing opens.
        self._host.do(functools.partial(_pass, gate, task, self._fail, self._gates))
        self.enqueue(what, cl.enqueue_barrier, [gate.native])
        self._flush()

    def dlpack_stream(self) -> cl.CommandQueue:
        return self.queue

    def is_idle(self) -> bool:
        if not self._is_flushed:  # once: a host that polls would keep the driver's threads from the queue
            self._is_flushed = True
            self._flush()
        return not self._pending.sweep() and (self._mark is None or status_of(self._mark) <= _COMPLETE)

    def pause(self, seconds: float) -> None:
        self._rest(seconds, functools.partial(wait_for_queue, self.queue))

    def pause_for(self, event: cl.Event, seconds: float) -> None:
        """Let the host rest while it waits for one of the queue's events, `seconds` at most."""
        self._rest(seconds, functools.partial(wait_for_event, event))

    def _rest(self, seconds: float, wait: Callable[[], object]) -> None:
        if self._waiter is None:
            name = f"{self.ledger.name} waiter"
            self._waiter = ep.spi.Waiter(name, 0.0) if self.device.works_in_waits else ep.spi.Waiter(name)
        self._waiter.rest(seconds, wait)

    def synchronize(self) -> None:
        self.calls += 1
        try:
            self.queue.finish()
        except cl.Error as error:
            raise failure(error) from error
        self._drop_transfers()
        failed = self._pending.take_failure()
        if failed is not None:
            raise failed

    def hear(self) -> None:
        """Take over the error of a command that failed, for the next synchronisation."""
        error = self._pending.take_failure()
        if error is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.ledger.failed(None, error)

    def _flush(self) -> None:
        # A queue may keep commands until it is flushed, and a poll would never become True.
        try:
            self.queue.flush()
        except cl.Error as error:
            raise failure(error) from error

    def give_up(self) -> None:
        """Let the queue end without what it waits for on the host."""
        for gate in [*self._gates]:
            gate.open(-1)

    def abandon(self) -> None:
        self.device.give_up()
        if self._waiter is not None and self.device.works_in_waits:
            self._waiter.see_out()

    def close(self) -> None:
        self._drop_transfers()
        self._mark = None
        for thread in (self._host, self._waiter):
            if thread is not None:
                thread.close()
        self.device.forget(self)


def _pass(gate: Gate, task: Callable[[], object], fail: Callable[[BaseException], None], gates: deque[Gate]) -> None:
    gate.do(task, fail)
    gates.remove(gate)
