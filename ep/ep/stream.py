"""A Stream is a queue of work on one device, in order. Everything enqueued anywhere passes its one door, _submit."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from ep import verbs
from ep.buffers import HeldBuffers, check_lengths, pattern_of, view_of
from ep.errors import ClosedError, DeviceError, EpError
from ep.event import Event, HostEvent
from ep.memory import Memory
from ep.primitive import Primitive
from ep.waiting import check_timeout, wait_until

if TYPE_CHECKING:
    from ep.buffers import HostBuffer
    from ep.device import Device

__all__ = ["Stream"]


Run = Callable[["Stream", tuple[Memory, ...], tuple[Any, ...]], Any]


class Stream(ABC):
    """An in-order queue, made by `device.stream()`. Used by one thread at a time.

    is_synchronous  : True: each verb returns when its work is done
    is_timed        : True: events recorded with timed=True carry device time
    """

    def __init__(self, device: Device, *, is_synchronous: bool, is_timed: bool) -> None:
        self.device = device
        self.name = f"{device.name}/stream"
        self.is_synchronous = is_synchronous
        self.is_timed = is_timed
        self.is_closed = False
        self._sequence = 0
        self._fenced: tuple[int, Event | None] = (0, None)
        self._held = HeldBuffers()
        self._error: BaseException | None = None
        self._devices = {device}

    @final
    def _submit(self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Run) -> Any:
        """Enqueue `run(self, memories, scalars)`: the one door of every launch, copy, fill, record and wait.

        what : the Primitive or Step launched, or the name of the verb

        Numbers the enqueue, enrols the stream with the devices whose memory it touches, refuses closed memories.
        What replaces this function on a stream sees all of its work.
        """
        device = self.device
        for memory in memories:
            if memory._block.device is not device:
                self._admit(what, memories, memory)
        self._sequence += 1
        try:
            return run(self, memories, scalars)
        except DeviceError as error:
            error.op, error.stream, error.sequence = str(what), self.name, self._sequence
            raise

    # What users call.

    @final
    def upload(self, dst: Memory, src: HostBuffer) -> None:
        """Copy a host buffer to the device.

        dst : as many bytes as src, on this stream's device
        src : contiguous buffer; read when the stream gets there: leave it unchanged until then; it is kept alive

        Raises ValueError or TypeError before anything is enqueued.
        """
        view = view_of(src, "upload: src", writable=False)
        self._check("upload", "dst", dst)
        dst._require_writable("upload: dst")
        check_lengths("upload", dst.nbytes, view.nbytes)
        if view.nbytes:
            self._submit("upload", (dst,), (view,), verbs.upload)
            self._hold(view)

    @final
    def download(self, dst: HostBuffer, src: Memory) -> None:
        """Copy device bytes to a host buffer.

        dst : contiguous writable buffer of as many bytes as src; written when the stream gets there; it is kept alive
        src : on this stream's device

        Raises ValueError or TypeError before anything is enqueued.
        """
        view = view_of(dst, "download: dst", writable=True)
        self._check("download", "src", src)
        check_lengths("download", view.nbytes, src.nbytes)
        if view.nbytes:
            self._submit("download", (src,), (view,), verbs.download)
            self._hold(view)

    @final
    def copy(self, dst: Memory, src: Memory) -> None:
        """Copy bytes between memories, one of them at least on this stream's device; the other device is not ordered.

        Where the devices cannot reach each other the bytes pass through the host, which waits: degraded.
        Raises ValueError for unlike lengths, overlapping ranges of one memory, or memories of two other devices.
        """
        self._check("copy", "dst", dst, anywhere=True)
        self._check("copy", "src", src, anywhere=True)
        dst._require_writable("copy: dst")
        check_lengths("copy", dst.nbytes, src.nbytes)
        if dst.device is not self.device and src.device is not self.device:
            message = (
                f"copy: dst is on {dst.device.name} and src on {src.device.name}; one must be on {self.device.name}"
            )
            raise ValueError(message)
        distance = dst._distance_to(src)
        if distance is not None and abs(distance) < dst.nbytes:
            message = f"copy: dst [{dst.offset}:+{dst.nbytes}] and src [{src.offset}:+{src.nbytes}] overlap"
            raise ValueError(message)
        if not dst.nbytes:
            return
        other = src.device if dst.device is self.device else dst.device
        if self.device.can_copy_from(other):
            self._submit("copy", (dst, src), (), verbs.copy)
        else:
            self._submit("copy", (dst, src), (), verbs.staged_copy)

    @final
    def fill(self, dst: Memory, pattern: bytes) -> None:
        """Repeat a pattern of 1, 2, 4, 8 or 16 bytes over a memory.

        dst : its nbytes and its offset within the allocation are multiples of the pattern's length

        Raises ValueError otherwise.
        """
        pattern = pattern_of(pattern)
        self._check("fill", "dst", dst)
        dst._require_writable("fill: dst")
        length = len(pattern)
        if dst.nbytes % length or dst.offset % length:
            message = f"fill: dst at offset {dst.offset} with {dst.nbytes} bytes; both must be multiples of the {length}-byte pattern"
            raise ValueError(message)
        if dst.nbytes:
            self._submit("fill", (dst,), (pattern,), verbs.fill)

    @final
    def record(self, *, timed: bool = False) -> Event:
        """Return an event at this point of the stream; `timed`: it carries device time.

        Raises ValueError for a timed event on an untimed stream.
        """
        self._require_open("record")
        if timed and not self.is_timed:
            message = f"record: {self.name} is untimed; make it with device.stream(timed=True) for timed events"
            raise ValueError(message)
        event: Event = self._submit("record", (), (timed,), verbs.record)
        return event

    @final
    def wait(self, event: Event) -> None:
        """Let the device hold back later work of this stream until the event is done; the host does not wait.

        The event may be of another stream, device or provider; where the hardware cannot wait for it the enqueuing
        host does: degraded.
        """
        self._require_open("wait")
        if not isinstance(event, Event):
            message = f"wait: {event!r} is not an Event; stream.record() gives one"
            raise TypeError(message)
        if event.stream is not self:
            self._submit("wait", (), (event,), verbs.wait)

    @property
    @final
    def is_idle(self) -> bool:
        """True if all that was enqueued is done. Never waits where the provider can answer."""
        self._require_open("is_idle")
        if not self.is_synchronous and type(self)._is_idle is not Stream._is_idle:
            return self._is_idle()
        return self._fence() is None

    @final
    def synchronize(self, timeout: float | None = None) -> None:
        """Let the host wait for all that was enqueued, at most `timeout` seconds.

        Raises TimeoutError, after which the stream is usable, or the error of work that failed. Ctrl-C works.
        """
        self._require_open("synchronize")
        check_timeout(timeout, f"{self.name}.synchronize")
        self._finish_work(timeout)
        self._raise_error(clear=True)

    @final
    def _finish_work(self, timeout: float | None = None) -> None:
        """Wait for all that was enqueued; its errors stay for who synchronises."""
        # Taken before the wait: another thread may hand over buffers of later work meanwhile.
        sequence, held, self._held = self._sequence, self._held, HeldBuffers()
        try:
            self._wait_idle(timeout)
        except BaseException:
            self._held.keep(held)
            raise
        self._fenced = (sequence, None)

    @final
    def _wait_idle(self, timeout: float | None) -> None:
        if not self.is_synchronous:
            if type(self)._is_idle is not Stream._is_idle:
                wait_until(self._is_idle, timeout, f"{self.name}.synchronize")
                self._synchronize()
            elif timeout is None:
                self._synchronize()
            else:
                self._synchronize_beside(timeout)

    @final
    def close(self) -> None:
        """Wait for all that was enqueued, then close. Idempotent. Raises the error of work that failed."""
        if self.is_closed:
            return
        try:
            self.synchronize()
        except EpError:
            self._finish()
            raise
        self._finish()  # not after Ctrl-C: the work that was interrupted in waiting for goes on

    # What a provider must write.

    @abstractmethod
    def _copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        """Enqueue a copy; each side is a Memory or a flat memoryview of nbytes > 0 bytes, one at least a Memory."""

    @abstractmethod
    def _synchronize(self) -> None:
        """Wait until all that was enqueued is done. Raises the DeviceError of work that failed."""

    # What a provider may write.

    def _fill(self, dst: Memory, pattern: bytes) -> None:
        """Enqueue a fill; nbytes and offset are multiples of the pattern's length. Default: a copy from the host."""
        self.device._degrade("fill")
        view = memoryview(pattern * (dst.nbytes // len(pattern)))
        self._copy(dst, view, dst.nbytes)
        self._hold(view)

    def _record(self, *, timed: bool) -> Event:
        """Enqueue an event. Default: the host waits, and the event is done.

        The device's retire list records events, too, from whichever thread frees memory: unlike the other twins this
        one may be called beside one that is running.
        """
        self.device._degrade("event")
        self._synchronize()
        return HostEvent(self, is_timed=timed)

    def _can_wait(self, event: Event) -> bool:
        """Say whether _wait takes this event. Default: those of this device."""
        return event.device is self.device

    def _wait(self, event: Event) -> None:
        """Enqueue a wait of the device. Default: the host waits."""
        self.device._degrade("wait")
        event._wait_done()

    def _is_idle(self) -> bool:
        """Answer without waiting whether all that was enqueued is done."""
        raise NotImplementedError

    def _close(self) -> None:
        """Release what the stream holds; nothing is under way."""

    # What EP itself calls.

    @final
    def _fail(self, error: BaseException) -> None:
        """Keep the first error of asynchronous work; the next synchronisation raises it. For providers' workers."""
        if self._error is None:
            self._error = error

    @final
    def _raise_error(self, *, clear: bool = False) -> None:
        """Raise the error of asynchronous work; whoever synchronises with the stream itself has heard it then."""
        error = self._error
        if clear:
            self._error = None
        if error is not None:
            raise error

    @final
    def _fence(self) -> Event | None:
        """Return an event that is not done until all enqueued so far is, None if it is already."""
        if self.is_synchronous or self.is_closed:
            return None
        sequence, event = self._fenced
        if sequence != self._sequence:
            if type(self)._record is Stream._record:
                self._synchronize()
                event = None
            else:
                event = self._record(timed=False)
            self._fenced = (self._sequence, event)
        if event is not None and event._is_done():
            event = None
            self._fenced = (self._sequence, None)
        return event

    @final
    def _hold(self, view: memoryview) -> None:
        """Keep a host buffer until its copy is seen done."""
        if not self.is_synchronous:
            self._held.add(view, self._fence)

    @final
    def _synchronize_beside(self, timeout: float) -> None:
        waiter = threading.Thread(target=self._synchronize_quietly, name=f"{self.name} wait", daemon=True)
        waiter.start()
        wait_until(lambda: not waiter.is_alive(), timeout, f"{self.name}.synchronize")

    @final
    def _synchronize_quietly(self) -> None:
        try:
            self._synchronize()
        except DeviceError as error:
            self._fail(error)

    @final
    def _admit(self, what: Any, memories: tuple[Memory, ...], memory: Memory) -> None:
        """Refuse what is closed, and what is of another device unless a verb takes it."""
        memory._require_open(str(what))
        if isinstance(what, Primitive):
            what._explain_foreign(memories, memories.index(memory))
        self._devices.add(memory.device)
        memory.device._retired.enrol(self)

    @final
    def _check(self, operation: str, argument: str, memory: Any, *, anywhere: bool = False) -> None:
        self._require_open(operation)
        if type(memory) is not Memory:
            message = f"{operation}: {argument} is {type(memory).__name__}, needs a Memory; device.allocate gives one"
            raise TypeError(message)
        memory._require_open(f"{operation}: {argument}")
        if not anywhere and memory.device is not self.device:
            message = f"{operation}: {argument} is on {memory.device.name}, needs {self.device.name}; use copy"
            raise ValueError(message)

    @final
    def _require_open(self, operation: str) -> None:
        if self.is_closed:
            self._refuse(operation)
        self.device._check_fork(operation)

    @final
    def _refuse(self, what: Any, *_: Any) -> Any:
        """Take the place of _submit once the stream is closed."""
        message = f"{what}: {self.name} was closed; make another with {self.device.name}'s device.stream()"
        raise ClosedError(message)

    @final
    def _set_door(self, door: Callable[..., Any]) -> None:
        """Put another function in the place of _submit, for this stream."""
        self.__dict__["_submit"] = door

    @final
    def _refuse_fork(self, what: Any, *_: Any) -> Any:
        """Take the place of _submit in a forked child."""
        self.device._check_fork(str(what))

    @final
    def _finish_quietly(self) -> None:
        """Close at the end of the process, when nobody is left to hear of an error but a warning."""
        try:
            self.close()
        except EpError as error:
            warnings.warn(f"{self.name}: work failed and nobody waited for it: {error}", RuntimeWarning, stacklevel=1)

    @final
    def _finish(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._set_door(self._refuse)
            self._held = HeldBuffers()
            self._close()

    def __del__(self) -> None:
        # A stream with work under way outlives its last reference: memories that the work touches depend on it.
        if not getattr(self, "is_closed", True):
            for device in self._devices:
                device._retired.adopt(self)

    def __repr__(self) -> str:
        return f"<Stream {self.name}>"
