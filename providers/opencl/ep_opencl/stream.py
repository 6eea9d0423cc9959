"""ClStream: an in-order OpenCL queue."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import pyopencl as cl

import ep
from ep_opencl.errors import failure, status_failure, status_of
from ep_opencl.event import ClEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_opencl.device import ClDevice

__all__ = ["ClStream", "new_queue"]


def new_queue(device: ClDevice, *, is_timed: bool) -> cl.CommandQueue:
    """Return a new in-order queue; it profiles only if it is timed."""
    try:
        if is_timed:
            return cl.CommandQueue(device.context, device.native, cl.command_queue_properties.PROFILING_ENABLE)
        return cl.CommandQueue(device.context, device.native)
    except cl.Error as error:
        raise failure(error) from error


class ClStream(ep.Stream):
    """An in-order queue, its own or one that others made.

    queue  : the pyopencl queue
    calls  : OpenCL calls made for it so far
    last   : the newest command that leaves an event, so that idleness is a question about one event
    """

    def __init__(self, device: ClDevice, queue: cl.CommandQueue, *, is_synchronous: bool) -> None:
        is_timed = bool(queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
        super().__init__(device, is_synchronous=is_synchronous, is_timed=is_timed)
        self._owner = device
        self.queue = queue
        self.calls = 0
        self.last: cl.Event | None = None
        self._transfers: deque[cl.Event] = deque()

    def enqueue(self, function: Callable[..., cl.Event], *arguments: Any, **options: Any) -> cl.Event:
        """Enqueue by a function of pyopencl that takes the queue first: the checked door of this stream."""
        try:
            event = function(self.queue, *arguments, **options)
        except cl.Error as error:
            raise failure(error) from error
        self.placed(event)
        return event

    def placed(self, event: cl.Event) -> None:
        """Take note of a command that was enqueued; a synchronous stream waits for it."""
        self.calls += 1
        self.last = event
        if self.is_synchronous:
            self._synchronize()

    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview):
            assert isinstance(src, ep.Memory)
            self._transfer(dst, src.handle, src_offset=src.offset)
        elif isinstance(src, memoryview):
            self._transfer(dst.handle, src, dst_offset=dst.offset)
        else:
            self.enqueue(
                cl.enqueue_copy, dst.handle, src.handle, byte_count=nbytes, dst_offset=dst.offset, src_offset=src.offset
            )

    def _transfer(self, dst: Any, src: Any, **offsets: int) -> None:
        event = self.enqueue(cl.enqueue_copy, dst, src, is_blocking=False, **offsets)
        # pyopencl's event of a host transfer waits for it when the event is dropped: they are dropped once done.
        self._transfers.append(event)
        while self._transfers and status_of(self._transfers[0]) <= cl.command_execution_status.COMPLETE:
            self._transfers.popleft()

    def _fill(self, dst: ep.Memory, pattern: bytes) -> None:
        self.enqueue(cl.enqueue_fill_buffer, dst.handle, pattern, dst.offset, dst.nbytes)

    def _record(self, *, timed: bool) -> ClEvent:
        event = ClEvent(self, self.enqueue(cl.enqueue_marker), is_timed=timed)
        self._flush()
        return event

    def _wait(self, event: ep.Event) -> None:
        assert isinstance(event, ClEvent)
        self.enqueue(cl.enqueue_barrier, [event.native])

    def _dlpack_stream(self) -> cl.CommandQueue:
        return self.queue

    def _is_idle(self) -> bool:
        if self.last is None:
            return True
        self._flush()
        return status_of(self.last) <= cl.command_execution_status.COMPLETE

    def _synchronize(self) -> None:
        self.calls += 1
        try:
            self.queue.finish()
        except cl.Error as error:
            raise failure(error) from error
        finally:
            self._transfers.clear()
        status = 0 if self.last is None else status_of(self.last)
        if status < 0:
            self.last = None
            raise status_failure(status)

    def _flush(self) -> None:
        # A queue may keep commands until it is flushed, and whoever polls would wait for ever.
        try:
            self.queue.flush()
        except cl.Error as error:
            raise failure(error) from error

    def _close(self) -> None:
        self._transfers.clear()
        self.last = None
        self._owner.forget(self)
