"""A Stream is an in-order queue of work on one device: the verbs that users call, and the door that all work passes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, final
from weakref import ref

from ep.errors import DeviceError, EpError, TimeoutError, place  # noqa: A004 - ours is the builtin, too
from ep.exchange.export import Exported, check_export
from ep.ground.callback import Callback, check_may_wait, check_outside
from ep.ground.glimpse import glimpse
from ep.ground.truth import truth
from ep.ground.uncopied import Uncopied
from ep.ground.waiting import check_timeout
from ep.layout.memory_kind import MemoryKind
from ep.memory.buffers import check_lengths, pattern_of, view_of
from ep.spi.stream import polls
from ep.stream import doors, verbs
from ep.stream.capture import Capture, CapturedEvent, Capturing
from ep.stream.event import Event
from ep.stream.progress import Progress, refuse_reentry
from ep.work.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep import spi
    from ep.ground.ledger import Ledger
    from ep.layout.spec import TensorSpec
    from ep.memory.buffers import HostBuffer
    from ep.memory.memory import Memory
    from ep.memory.segment import Freed
    from ep.stream.device import Device
    from ep.stream.validation import Origins
    from ep.stream.verbs import Run

__all__ = ["Stream"]


class Stream(Uncopied):
    """An in-order queue, made by `device.stream()`. Used by one thread at a time.

    is_synchronous  : True: each verb returns when its work is done
    is_timed        : True: events recorded with timed=True carry device time
    twin            : the provider's stream
    """

    def __init__(self, device: Device, twin: spi.Stream, ledger: Ledger) -> None:
        self.device = device
        self.twin = twin
        self.name = ledger.name
        self._ledger = ledger
        self.is_synchronous = twin.is_synchronous
        self.is_timed = twin.is_timed
        self.is_closed = False
        self._sequence = 0
        self._inside: Any = None  # the Primitive, Step or Graph being launched, or the name of the verb under way
        self._progress = Progress(is_settled=twin.is_synchronous)
        self._failure = ledger._failure
        self._doors = doors.NONE
        self._capture: Capture | None = None
        self._devices = {device}
        self._freed: Freed = {}
        self._origins: Origins | None = None  # in validation mode
        self._kept: object = None  # the owner of a native queue that was wrapped
        self._is_enlisted = False  # its device enlists it last, when it is complete
        ledger._stream = ref(self)

    @final
    def upload(self, dst: Memory, src: HostBuffer, *, constant: bool = False) -> None:
        """Copy a host buffer to the device.

        dst      : as many bytes as src, on this stream's device
        src      : contiguous buffer; read when the stream gets there: leave it unchanged until then; it is kept alive
        constant : True: earlier work leaves src unchanged, too, so that it may be read at once

        Raises ValueError or TypeError before anything is enqueued.
        """
        view = view_of(src, "upload: src", writable=False)
        self._check("upload", "dst", dst)
        run = verbs.upload_to(dst, view, constant)
        if view.nbytes:
            self._submit("upload", (dst,), (view,), run)
            self._progress.hold(self, view)

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
            self._progress.hold(self, view)

    @final
    def copy(self, dst: Memory, src: Memory) -> None:
        """Copy bytes between memories, at least one on this stream's device; streams of the other device do not wait.

        If the devices cannot reach each other, the bytes pass through the host, which waits: degraded.
        Raises ValueError for unlike lengths, overlapping ranges of one memory, or memories of two other devices.
        """
        self._require_open("copy")
        verbs.check_copy(dst, src, self.device)
        if dst.nbytes:
            self._submit("copy", (dst, src), (), verbs.copy_between(dst.device, src.device, self.device))

    @final
    def fill(self, dst: Memory, pattern: bytes) -> None:
        """Repeat a pattern of 1, 2, 4, 8 or 16 bytes over a memory.

        dst : its nbytes and its offset within the allocation are multiples of the pattern's length

        Raises ValueError otherwise.
        """
        pattern = pattern_of(pattern)
        self._check("fill", "dst", dst)
        verbs.check_fill(dst, pattern)
        if dst.nbytes:
            self._submit("fill", (dst,), (pattern,), verbs.fill)

    @final
    def record(self, *, timed: bool = False) -> Event:
        """Return an event at this point of the stream; `timed`: it carries device time.

        Raises ValueError for a timed event on an untimed stream.
        """
        self._require_open("record")
        if timed is not False:
            timed = truth("record: timed", timed)
        if timed and not self.is_timed:
            message = f"record: {self.name} is untimed; make it with device.stream(timed=True) for timed events"
            raise ValueError(message)
        return self._mark("record", timed=timed)

    @final
    def wait(self, event: Event) -> None:
        """Let the device hold back later work of this stream until the event is done; the host does not wait.

        The event may be of another stream, device or provider. If the hardware cannot wait for it, the enqueuing host
        does: degraded.
        """
        self._require_open("wait")
        if not isinstance(event, Event):
            message = f"wait: {glimpse(event)} is not an Event; stream.record() gives one"
            raise TypeError(message)
        event.device._check_fork("wait: event")
        if isinstance(event, CapturedEvent):
            event.capture.join(self, event)
        elif event.stream is not self or self._capture is not None:
            self._submit("wait", (), (event,), verbs.wait)

    @final
    def call(self, function: Callable[[], object]) -> None:
        """Call a host function once, when the stream gets there; later work of the stream waits for it.

        function : takes no argument; the next synchronisation raises its exception. It may not use EP, because it might
                   wait for itself: in it waits and verbs raise ValueError, and so do launches with EP_VALIDATE=1

        An asynchronous stream calls it on a thread of EP, a synchronous one before this verb returns. Raises TypeError
        if it cannot be called.
        """
        self._require_open("call")
        if not callable(function):
            message = f"call: function is {type(function).__name__}, needs something that can be called with nothing"
            raise TypeError(message)
        where = place("call", self.name, self._sequence + 1)
        self._submit("call", (), (Callback(function, self._failure, where),), verbs.call)

    @final
    def allocate(self, nbytes: int, kind: MemoryKind = MemoryKind.DEVICE) -> Memory:
        """Return memory for later work of this stream, as device.allocate does; perhaps bytes that the stream freed.

        The host and other streams may touch it once this stream has passed this point: after an event recorded here.

        Raises OutOfMemoryError, after which the device still works; UnsupportedError for a kind that it lacks.
        """
        self._require_open("allocate")
        memory: Memory = self._submit("allocate", (), (self, nbytes, kind, self._inside), verbs.allocate)
        return memory

    @final
    def free(self, memory: Memory) -> None:
        """Close a memory for the host, and give its bytes back when the stream gets there.

        memory : of this stream's device, no view; other streams' work on it must be done, or this stream waited for it

        The stream's own allocate may reuse the bytes at once, others only when all streams have passed this point. A
        memory that a step, graph or export holds is kept until that is gone. Raises ClosedError the second time.
        """
        self._check("free", "memory", memory)
        if memory._is_view:
            message = f"free: memory is a view of {memory.nbytes} bytes at {memory.offset}; free the memory itself"
            raise ValueError(message)
        self._submit("free", (memory,), (self,), verbs.free)

    @final
    def export(self, memory: Memory, spec: TensorSpec) -> Exported:
        """Return a tensor as an object for other libraries, by DLPack; its contents are valid from here on.

        memory : of this stream's device; its bytes are kept until the last consumer is gone, though it may be closed
        spec   : how the tensor lies in it

        Nothing is copied, and EP does not see what consumers read and write: let them finish before the stream writes.
        Raises ValueError if the tensor does not fit the memory, UnsupportedError where memory cannot be shown.
        """
        self._check("export", "memory", memory)
        check_export(memory, spec)
        return Exported(memory, spec, self._mark("export", memory, timed=False))

    @final
    def capture(self) -> Capturing:
        """Record the work of a `with` block, in place of running it, as the Graph that the block is given.

        A capture records launches, copies within the device's reach, fills, and record and wait among its streams. Any
        other verb raises ValueError at once; stream and capture stay usable. Streams of the device join by waiting for
        an event recorded in the capture. This stream must wait for their work before the capture ends, else the end
        raises ValueError. An exception inside the block ends the capture, and the stream stays usable.
        """
        self._require_open("capture")
        return Capturing(self)

    @property
    @final
    def is_idle(self) -> bool:
        """True if all enqueued work is done. Never waits if the provider can answer."""
        self._require_open("is_idle")
        self._require_uncaptured("is_idle")
        if not self._progress.is_settled and polls(self.twin):
            return self.twin.is_idle()
        return self._fence() is None

    @final
    def synchronize(self, timeout: float | None = None) -> None:
        """Let the host wait for all enqueued work, at most `timeout` seconds.

        Closed memory that no stream can touch any more goes to its device's pool or its owner.
        Raises TimeoutError, after which the stream is usable, or the error of work that failed. Ctrl-C works.
        """
        self._require_open("synchronize")
        self._require_uncaptured("synchronize")
        if not self._progress.is_settled:
            check_may_wait("synchronize")
        check_timeout(timeout, f"{self.name}.synchronize")
        self._progress.finish(self, timeout)
        for device in [*self._devices]:
            device._retired.drain()
        self._raise_error(clear=True)

    @final
    def close(self) -> None:
        """Wait for all enqueued work, then close. Idempotent. Raises the error of work that failed."""
        if self.is_closed:
            return
        self._require_open("close")
        self._require_uncaptured("close")
        if not self._progress.is_settled:
            check_may_wait("close")
        if self._inside is not None:
            refuse_reentry(self)
        try:
            self._progress.finish(self, None)
        except EpError:
            self._finish()
            raise
        self._finish()  # not after Ctrl-C during the wait: the work goes on
        self._raise_error(clear=True)

    @final
    def _mark(self, what: str, *memories: Memory, timed: bool) -> Event:
        """Return an event at this point of the stream."""
        placed = self._submit(what, memories, (timed,), verbs.record)
        return placed if isinstance(placed, Event) else Event(self, placed, is_timed=timed)  # a capture's are of EP

    @final
    def _check(self, operation: str, argument: str, memory: Any) -> None:
        self._require_open(operation)
        verbs.check_memory(f"{operation}: {argument}", memory, self.device)

    # What EP itself calls.

    @final
    def _submit(self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Run) -> Any:
        """Enqueue `run(self.twin, memories, scalars)`: every launch, copy, fill, record and wait passes here.

        what : the Primitive or Step launched, or the name of the verb

        Numbers the enqueue, enrols the stream with the devices whose memory it touches, refuses closed memories.
        `ep.stream.doors` says what may stand before it.
        """
        # Set before closed memories are looked for: a memory that another thread or a handler closes from here on is
        # kept for this verb. A verb inside that handler leaves the value as it was, and has the same number.
        before, self._inside = self._inside, what
        if memories:  # a step has none here
            device = self.device
            try:
                for memory in memories:
                    if memory._block.device is not device:
                        self._admit(what, memories)
                        break
            except BaseException:
                self._inside = before
                raise
        try:
            return run(self.twin, memories, scalars)
        except DeviceError as error:
            error._hit(what, self.name, self._sequence + 1)
            raise
        except BaseException:
            self._progress.is_settled = False  # Ctrl-C may have left some of it under way
            raise
        finally:
            # Counted after it is enqueued: a fence that another thread records meanwhile may come before it.
            if before is None:
                self._sequence += 1
            self._inside = before

    @final
    def _admit(self, what: Any, memories: tuple[Memory, ...]) -> None:
        """Refuse closed memories, and other devices' memories unless the verb takes them; enrol with those devices."""
        for memory in memories:
            if memory._block.device is not self.device:
                memory._require_open(str(what))
                if isinstance(what, Primitive):
                    what._explain_foreign(memories, memories.index(memory))
                self._devices.add(memory.device)
                memory.device._retired.enrol(self)

    @final
    def _outlast(self, timeout: float | None = None) -> None:
        """Wait for all enqueued work, and keep its error. Raises TimeoutError."""
        try:
            self._progress.finish(self, timeout)
        except TimeoutError:
            raise
        except EpError as error:
            self._failure.keep(error)

    @final
    def _fence(self) -> Event | None:
        """Return an event that is done once all work enqueued so far is, None if it is already."""
        return self._progress.fence(self)

    @final
    def _raise_error(self, *, clear: bool = False) -> None:
        """Raise the error of asynchronous work; `clear`: forget it, so that it is raised once."""
        error = self._failure.take() if clear else self._failure.error
        if error is not None:
            self._tell_origin(error)
            raise error

    @final
    def _tell_origin(self, error: BaseException) -> None:
        if self._origins is not None:
            self._origins.tell(error, self.name)

    @final
    def _warn(self) -> None:
        """Warn of an error in a closed stream, which no synchronisation can raise any more."""
        error = self._failure.take_last()
        if error is not None:
            self._tell_origin(error)
            message = f"{self.name}: work failed and nobody waited for it: {type(error).__name__}: {error}"
            warnings.warn(message, RuntimeWarning, stacklevel=1)

    @final
    def _require_open(self, operation: str) -> None:
        if self.is_closed:
            doors.refuse_closed(None, self, operation)
        self.device._check_fork(operation)
        check_outside(operation)

    @final
    def _require_uncaptured(self, operation: str) -> None:
        if self._capture is not None:
            self._capture.refuse(self, operation)

    @final
    def _finish(self) -> None:
        if self._progress.end(self):
            doors.put(self, "close", doors.refuse_closed)
            self.twin.close()
            self._kept = None

    def __del__(self) -> None:
        # A stream with work under way outlives its last reference, because memories that the work touches
        # depend on it. A stream whose construction was interrupted has no work.
        if getattr(self, "_is_enlisted", False) and not self.is_closed:
            for device in self._devices:
                device._retired.adopt(self)

    def __repr__(self) -> str:
        return f"<Stream {self.name}>"
