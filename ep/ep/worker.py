"""A WorkerStream is asynchronous: a thread of its own does its work, in order, on a synchronous stream of the device."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ep import verbs
from ep.errors import DeviceError, place
from ep.event import Event
from ep.stream import Stream
from ep.submission import refuse_closed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.device import Device
    from ep.failure import Failure
    from ep.memory import Memory

__all__ = ["WorkerEvent", "WorkerStream"]

_AT_ONCE: Final = frozenset({verbs.record, verbs.allocate, verbs.free})  # what the caller has when the verb returns


class _Task(NamedTuple):
    """One enqueue, as the door got it."""

    what: Any
    sequence: int
    run: Callable[[Any, tuple[Memory, ...], tuple[Any, ...]], Any]
    memories: tuple[Memory, ...]
    scalars: tuple[Any, ...]


class _Progress:
    """What a stream and its worker both know; the worker keeps nothing else of the stream, which may be dropped.

    placed  : tasks enqueued, counted before they are there
    done    : tasks finished, failed ones among them
    idle    : told when the two are equal
    """

    __slots__ = ("done", "failure", "idle", "name", "placed", "tasks")

    def __init__(self, failure: Failure) -> None:
        self.tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self.failure = failure
        self.name = ""
        self.placed = 0
        self.done = 0
        self.idle = threading.Condition()


class WorkerStream(Stream):
    """Gives a provider whose streams are synchronous asynchronous ones.

    lane : a synchronous stream of the device, which no one else uses; what it does, it does at once
    """

    def __init__(self, device: Device, lane: Stream) -> None:
        super().__init__(device, is_synchronous=False, is_timed=lane.is_timed)
        self._lane = lane
        lane._failure = self._failure
        self._progress = _Progress(self._failure)
        self._placing = threading.Lock()
        self._is_ended = False
        self._worker = threading.Thread(
            target=_work, args=(lane, self._progress), name=f"{device.name} worker", daemon=True
        )
        self._worker.start()

    # In place of the class's door and not, by _set_door, of the object's: that would be a stream that refers to itself.
    def _submit(  # type: ignore[misc]  # final for providers
        self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Any
    ) -> Any:
        """Admit as the door does, and leave the run to the worker."""
        self._admit_all(what, memories)
        try:
            if run in _AT_ONCE:
                return run(self, memories, scalars)
            return self._place(_Task(what, self._sequence + 1, run, memories, scalars))
        finally:
            self._sequence += 1

    @final
    def _place(self, task: _Task) -> None:
        progress = self._progress
        # The retire list records events beside the thread that uses the stream.
        with self._placing:
            if self._is_ended:  # by another thread, behind the door
                refuse_closed(self.name, self.device.name, task.what)
            progress.name = self.name
            progress.placed += 1
            progress.tasks.put(task)

    def _record(self, *, timed: bool) -> WorkerEvent:
        event = WorkerEvent(self, is_timed=timed)
        self._place(_Task("record", self._sequence + 1, event._reach, (), ()))
        return event

    def _copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        self._place(_Task("copy", self._sequence + 1, lambda lane, *_: lane._copy(dst, src, nbytes), (), ()))

    def _is_idle(self) -> bool:
        return self._progress.done == self._progress.placed

    def _pause(self, seconds: float) -> None:
        with self._progress.idle:
            if not self._is_idle():
                self._progress.idle.wait(seconds)

    def _synchronize(self) -> None:
        """Wait for nothing: who asks for this has waited for _is_idle."""

    def _close(self) -> None:
        with self._placing:
            self._is_ended = True
            self._progress.tasks.put(None)
        # A stream that was dropped may end in a finalizer, which runs in any thread.
        if threading.current_thread() is not self._worker:
            self._worker.join()
        self._lane._finish()


@final
class WorkerEvent(Event):
    """A point in a worker's queue; the lane's own event, recorded when the worker gets there, knows the time."""

    def __init__(self, stream: WorkerStream, *, is_timed: bool) -> None:
        super().__init__(stream, is_timed=is_timed)
        self._reached = threading.Event()
        self._of_lane: Event | None = None

    def _reach(self, lane: Stream, *_: Any) -> None:
        try:
            self._of_lane = lane._record(timed=self.is_timed)
        finally:
            self._reached.set()

    def _is_done(self) -> bool:
        return self._reached.is_set()

    def _pause(self, seconds: float) -> None:
        self._reached.wait(seconds)

    def _point(self) -> Event:
        if self._of_lane is None:
            message = f"seconds_since: the event was not recorded, because {self.stream.name} failed; record another"
            raise ValueError(message)
        return self._of_lane


def _work(lane: Stream, progress: _Progress) -> None:
    while (task := progress.tasks.get()) is not None:
        try:
            task.run(lane, task.memories, task.scalars)
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            _tell(error, task, progress)
        del task  # while it waits for the next, the worker keeps nothing alive
        progress.done += 1
        if progress.done == progress.placed:
            # Whoever rests has seen under this lock that it is not so.
            with progress.idle:
                progress.idle.notify_all()


def _tell(error: BaseException, task: _Task, progress: _Progress) -> None:
    if isinstance(error, DeviceError):
        error._hit(task.what, progress.name, task.sequence)
    else:
        error.add_note(place(task.what, progress.name, task.sequence))
    progress.failure.keep(error)
