"""A Submission is a stream behind its verbs: the one door of all work, what its provider writes, errors, its end."""

from __future__ import annotations

import functools
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final

from ep import verbs
from ep.buffers import HeldBuffers
from ep.callback import check_outside
from ep.errors import ClosedError, DeviceError, EpError, TimeoutError  # noqa: A004 - ours is the builtin, too
from ep.event import Event, HostEvent
from ep.failure import Failure
from ep.memory import Memory
from ep.primitive import Primitive
from ep.segment import OWNERSHIP
from ep.uncopied import Uncopied
from ep.waiting import sleep, wait_until

if TYPE_CHECKING:
    from ep.capture import Capture
    from ep.device import Device
    from ep.segment import Freed
    from ep.stream import Stream
    from ep.validation import Origins

__all__ = ["Submission", "refuse_closed"]


_NO_VERB: Final = -1

Run = Callable[[Any, tuple[Memory, ...], tuple[Any, ...]], Any]


class Submission(Uncopied, ABC):
    """What EP does with a stream, and what a provider writes for one; `Stream` adds what users call."""

    def __init__(self, device: Device, *, is_synchronous: bool, is_timed: bool) -> None:
        self.device = device
        self.name = f"{device.name}/stream"
        self.is_synchronous = is_synchronous
        self.is_timed = is_timed
        self.is_closed = False
        self._sequence = 0
        self._inside = False  # True while a verb is under way
        self._is_settled = is_synchronous  # False: work may be under way when no verb is
        self._fencer = 0  # the thread that records an event beside whoever uses the stream
        self._fenced: tuple[int, Event | None] = (0, None)
        self._held = HeldBuffers()
        self._failure = Failure()
        self._door: Callable[..., Any] | None = None
        self._capture: Capture | None = None
        self._devices = {device}
        self._freed: Freed = {}
        self._origins: Origins | None = None  # in validation mode
        self._kept: object = None  # the owner of a native queue that was wrapped
        self._is_enlisted = False  # by its device, once a subclass has made all of it

    @final
    def _submit(self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Run) -> Any:
        """Enqueue `run(self, memories, scalars)`: the one door of every launch, copy, fill, record and wait.

        what : the Primitive or Step launched, or the name of the verb

        Numbers the enqueue, enrols the stream with the devices whose memory it touches, refuses closed memories.
        What replaces this function on a stream sees all of its work.
        """
        device = self.device
        # Said before closed memories are looked for: what is closed from here on, by another thread or by a handler that
        # interrupts this verb, is kept for it. A handler's own verb leaves that as it was, and has the same number.
        before = self._inside
        self._inside = True
        try:
            for memory in memories:
                if memory._block.device is not device:
                    self._admit(what, memories, memory)
        except BaseException:
            self._inside = before
            raise
        try:
            return run(self, memories, scalars)
        except DeviceError as error:
            error._hit(what, self.name, self._sequence + 1)
            raise
        except BaseException:
            self._is_settled = False  # Ctrl-C may have left some of it under way
            raise
        finally:
            # Counted when it is there: a fence that another thread records meanwhile may come before it.
            if not before:
                self._sequence += 1
            self._inside = before

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
        return HostEvent(cast("Stream", self), is_timed=timed)

    def _can_wait(self, event: Event) -> bool:
        """Say whether _wait takes this event. Default: those of this device."""
        return event.device is self.device

    def _wait(self, event: Event) -> None:
        """Enqueue a wait of the device. Default: the host waits."""
        verbs.let_host_wait(cast("Stream", self), event)

    def _is_idle(self) -> bool:
        """Answer without waiting whether all that was enqueued is done.

        Default: EP asks an event that it records; where host waits have a timeout, a thread of EP waits in their place.
        """
        raise NotImplementedError

    def _dlpack_stream(self) -> Any:
        """Return what producers of this device's DLPack type know as this stream. Default: None, so that they wait."""
        return None

    def _pause(self, seconds: float) -> None:
        """Let the host rest while it waits for this stream, `seconds` at most. Default: all of them."""
        sleep(seconds)

    def _call(self, function: Callable[[], object]) -> None:
        """Enqueue a call of a host function, which raises nothing. Default: the host waits, then calls it.

        A synchronous stream's work is the caller's, and so is this; from an asynchronous one it is taken: degraded.
        """
        if not self.is_synchronous:
            self.device._degrade("call")
            self._wait_idle(None)
        function()

    def _abandon(self) -> None:
        """Give up what is under way, because the process ends: what the driver waits for will not come."""

    def _close(self) -> None:
        """Release what the stream holds; nothing is under way."""

    # What EP itself calls.

    @final
    def _admit_all(self, what: Any, memories: tuple[Memory, ...]) -> None:
        """Do what the door does before it runs anything, for what takes its place."""
        for memory in memories:
            if memory._block.device is not self.device:
                self._admit(what, memories, memory)

    @final
    def _finish_work(self, timeout: float | None = None) -> None:
        """Wait for all that was enqueued; its errors stay for who synchronises."""
        # Read before the wait: another thread or a handler may enqueue meanwhile.
        sequence = self._sequence
        self._wait_idle(timeout)
        self._held.release(sequence)
        self._fenced = (sequence, None)

    @final
    def _outlast(self, timeout: float | None = None) -> None:
        """Wait for all that was enqueued, and keep its error. Raises TimeoutError."""
        try:
            self._finish_work(timeout)
        except TimeoutError:
            raise
        except EpError as error:
            self._failure.keep(error)

    @final
    def _wait_idle(self, timeout: float | None) -> None:
        if not self._is_settled:
            if type(self)._is_idle is not Submission._is_idle:
                wait_until(self._is_idle, timeout, f"{self.name}.synchronize", self._pause)
                self._synchronize()
            elif timeout is None:
                self._synchronize()
            else:
                self._synchronize_beside(timeout)
            self._is_settled = self.is_synchronous

    @final
    def _fail(self, error: BaseException) -> None:
        """Keep the first error of asynchronous work; the next synchronisation raises it. For providers' workers."""
        self._failure.keep(error)

    @final
    def _raise_error(self, *, clear: bool = False) -> None:
        """Raise the error of asynchronous work; whoever synchronises with the stream itself has heard it then."""
        error = self._failure.take() if clear else self._failure.error
        if error is not None:
            self._tell_origin(error)
            raise error

    @final
    def _tell_origin(self, error: BaseException) -> None:
        if self._origins is not None:
            self._origins.tell(error, self.name)

    @final
    def _fence(self) -> Event | None:
        """Return an event that is not done until all enqueued so far is, None if it is already."""
        if self._inside:  # of which the verb under way is a part, in whichever thread
            return _Behind(cast("Stream", self), self._sequence)
        if self._is_settled:
            return None
        enqueued, event = self._fenced
        return None if event is None and enqueued == self._sequence else self._fence_now()

    @final
    def _fence_now(self) -> Event | None:
        """Return an event at this point of the stream, None if all before it is done."""
        me = get_ident()
        is_mine = False
        try:
            # Not beside _finish: what is placed in a stream that is closed meanwhile is never reached.
            with OWNERSHIP.lock:
                is_closed = self.is_closed
                if not is_closed and not self._fencer:
                    self._fencer, is_mine = me, True
            if is_mine:
                return self._recorded()
            return None if is_closed else _Behind(cast("Stream", self), _NO_VERB)
        finally:
            if is_mine:
                self._fencer = 0

    @final
    def _recorded(self) -> Event | None:
        # Read once, and first: the thread that uses the stream may enqueue meanwhile, what no event of now is behind.
        enqueued = self._sequence
        sequence, event = self._fenced
        if sequence != enqueued:
            if type(self)._record is Submission._record:
                self._synchronize()
                event = None
            else:
                event = self._record(timed=False)
        if event is not None and event._is_done():
            event = None
        self._fenced = (enqueued, event)
        return event

    @final
    def _hold(self, view: memoryview) -> None:
        """Keep a host buffer until its copy is seen done."""
        if not self.is_synchronous:
            self._held.add(view, self._sequence + bool(self._inside), self._fence)

    @final
    def _synchronize_beside(self, timeout: float) -> None:
        waiter = threading.Thread(target=self._synchronize_quietly, name=f"{self.name} wait", daemon=True)
        waiter.start()
        wait_until(lambda: not waiter.is_alive(), timeout, f"{self.name}.synchronize", sleep)

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
        memory.device._retired.enrol(cast("Stream", self))

    @final
    def _require_open(self, operation: str) -> None:
        if self.is_closed:
            refuse_closed(self.name, self.device.name, operation)
        self.device._check_fork(operation)
        check_outside(operation)

    @final
    def _require_uncaptured(self, operation: str) -> None:
        if self._capture is not None:
            self._capture.refuse(cast("Stream", self), operation)

    @final
    def _refuse_reentry(self, operation: str) -> NoReturn:
        message = (
            f"{operation}: {self.name} is in the middle of a verb, which was interrupted by the signal handler or finalizer "
            f"that asks for this; {operation} it after that, where a flag of the handler is read"
        )
        raise ValueError(message)

    @final
    def _set_door(self, door: Callable[..., Any] | None) -> None:
        """Put another function in the place of _submit, for this stream; None: that one itself."""
        # By attribute: whoever asks a CPython 3.11 object for its __dict__ makes all of its attributes slower for good,
        # which took a bound launch on the CPU from 0.22 to 0.32 us.
        if door is not None:
            object.__setattr__(self, "_submit", door)
        elif self._door is not None:
            object.__delattr__(self, "_submit")
        self._door = door

    @final
    def _refuse_fork(self, what: Any, *_: Any) -> Any:
        """Take the place of _submit in a forked child."""
        self.device._check_fork(str(what))

    @final
    def _finish(self) -> None:
        if self._fencer == get_ident():
            self._refuse_reentry("close")
        is_mine = False
        while not is_mine:
            with OWNERSHIP.lock:
                if self.is_closed:
                    return
                if not self._fencer:  # else another thread records an event, which takes no time
                    self.is_closed = is_mine = True
            sleep(0)
        self._set_door(functools.partial(refuse_closed, self.name, self.device.name))
        self._held = HeldBuffers()
        self._close()
        self._kept = None

    @final
    def _warn(self) -> None:
        """Say what went wrong in a closed stream that nobody can synchronise with any more."""
        error = self._failure.take()
        if error is not None:
            self._tell_origin(error)
            message = f"{self.name}: work failed and nobody waited for it: {type(error).__name__}: {error}"
            warnings.warn(message, RuntimeWarning, stacklevel=1)

    def __del__(self) -> None:
        # A stream with work under way outlives its last reference: memories that the work touches depend on it.
        # One whose making was interrupted has none.
        if getattr(self, "_is_enlisted", False) and not self.is_closed:
            for device in self._devices:
                device._retired.adopt(cast("Stream", self))


def refuse_closed(stream: str, device: str, what: Any, *_: Any) -> NoReturn:
    """Take the place of _submit once the stream is closed."""
    message = f"{what}: {stream} was closed; make another with {device}'s device.stream()"
    raise ClosedError(message)


class _Behind(Event):
    """The end of a verb that is under way, and of all that was enqueued before it."""

    def __init__(self, stream: Stream, enqueued: int) -> None:
        super().__init__(stream, is_timed=False)
        self._enqueued = enqueued
        self._mark: Event | None = self

    def _is_done(self) -> bool:
        stream = self.stream
        if stream._inside and stream._sequence == self._enqueued:
            return False
        if self._mark is self:
            mark = None if stream._is_settled else stream._fence_now()
            if type(mark) is _Behind:  # somebody else is at it
                return False
            self._mark = mark
        return self._mark is None or self._mark._is_done()
