"""A Submission is a stream behind its verbs: the one door of all work, fences, errors, its end."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, final
from weakref import ref

from ep.buffers import HeldBuffers
from ep.callback import check_outside
from ep.errors import ClosedError, DeviceError, DeviceLostError, EpError, TimeoutError  # noqa: A004 - ours is the builtin, too
from ep.event import Event
from ep.memory import Memory
from ep.primitive import Primitive
from ep.segment import OWNERSHIP
from ep.spi.stream import Stream as SpiStream
from ep.spi.stream import settle
from ep.uncopied import Uncopied
from ep.waiting import sleep

if TYPE_CHECKING:
    from ep import spi
    from ep.capture import Capture
    from ep.device import Device
    from ep.ledger import Ledger
    from ep.segment import Freed
    from ep.stream import Stream
    from ep.validation import Origins

__all__ = ["Submission", "refuse_closed"]


_NO_VERB: Final = -1

Run = Callable[[Any, tuple[Memory, ...], tuple[Any, ...]], Any]


class Submission(Uncopied):
    """What EP does with a stream; `Stream` adds what users call.

    twin : the provider's stream
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
        self._inside: Any = None  # what is launched, or the name of the verb that is under way
        self._is_settled = twin.is_synchronous  # False: work may be under way when no verb is
        self._fencer = 0  # the thread that records an event beside whoever uses the stream
        self._fenced: tuple[int, Event | None] = (0, None)
        self._held = HeldBuffers()
        self._failure = ledger._failure
        self._door: Callable[..., Any] | None = None
        self._capture: Capture | None = None
        self._devices = {device}
        self._freed: Freed = {}
        self._origins: Origins | None = None  # in validation mode
        self._kept: object = None  # the owner of a native queue that was wrapped
        self._is_enlisted = False  # by its device, once all of it is made
        ledger._stream = ref(self)

    @final
    def _submit(self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Run) -> Any:
        """Enqueue `run(self.twin, memories, scalars)`: the one door of every launch, copy, fill, record and wait.

        what : the Primitive or Step launched, or the name of the verb

        Numbers the enqueue, enrols the stream with the devices whose memory it touches, refuses closed memories.
        What replaces this function on a stream sees all of its work.
        """
        device = self.device
        # Said before closed memories are looked for: what is closed from here on, by another thread or by a handler that
        # interrupts this verb, is kept for it. A handler's own verb leaves that as it was, and has the same number.
        before = self._inside
        self._inside = what
        try:
            for memory in memories:
                if memory._block.device is not device:
                    self._admit(what, memories, memory)
        except BaseException:
            self._inside = before
            raise
        try:
            return run(self.twin, memories, scalars)
        except DeviceError as error:
            error._hit(what, self.name, self._sequence + 1)
            raise
        except BaseException:
            self._is_settled = False  # Ctrl-C may have left some of it under way
            raise
        finally:
            # Counted when it is there: a fence that another thread records meanwhile may come before it.
            if before is None:
                self._sequence += 1
            self._inside = before

    @final
    def _rename(self, name: str) -> None:
        self.name = self._ledger.name = name

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
            settle(self.twin, timeout)
            self._is_settled = self.is_synchronous

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
        if self._inside is not None:  # of which the verb under way is a part, in whichever thread
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
            try:
                if type(self.twin).record is SpiStream.record:
                    self.twin.synchronize()
                    event = None
                else:
                    event = Event(cast("Stream", self), self.twin.record(timed=False), is_timed=False)
            except DeviceLostError:  # nothing is under way on it; verbs and waits say that it is lost
                event = None
        if event is not None and event._is_done():
            event = None
        self._fenced = (enqueued, event)
        return event

    @final
    def _hold(self, view: memoryview) -> None:
        """Keep a host buffer until its copy is seen done."""
        if not self.is_synchronous:
            self._held.add(view, self._sequence + (self._inside is not None), self._fence)

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
        self.twin.close()
        self._kept = None

    @final
    def _warn(self) -> None:
        """Say what went wrong in a closed stream that nobody can synchronise with any more."""
        error = self._failure.take()
        # Where no enqueue is blamed, the device was lost without work of this stream.
        if error is not None and not (isinstance(error, DeviceLostError) and error.op is None):
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
        super().__init__(stream, None, is_timed=False)
        self._enqueued = enqueued
        self._mark: Event | None = self

    def _is_done(self) -> bool:
        stream = self.stream
        if stream._inside is not None and stream._sequence == self._enqueued:
            return False
        if self._mark is self:
            mark = None if stream._is_settled else stream._fence_now()
            if type(mark) is _Behind:  # somebody else is at it
                return False
            self._mark = mark
        return self._mark is None or self._mark._is_done()
