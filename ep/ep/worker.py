"""A WorkerStream is asynchronous: a thread of its own does its work, in order, on a synchronous stream of the device."""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ep import verbs
from ep.callback import work_here
from ep.errors import DeviceError, place
from ep.event import Event
from ep.locks import Bell, Latch
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

    tasks    : enqueued and not finished: the one that is under way stands first
    wakes    : "task" for each task that was enqueued, "" for the end of the stream
    bell     : rung when nothing is under way, so that who waits for that may rest
    is_over  : True once the worker takes no more tasks
    """

    __slots__ = ("bell", "failure", "is_over", "name", "tasks", "wakes")

    def __init__(self, failure: Failure) -> None:
        self.tasks: deque[_Task] = deque()
        self.wakes: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.failure = failure
        self.name = ""
        self.bell = Bell()
        self.is_over = False


class WorkerStream(Stream):
    """Gives a provider whose streams are synchronous asynchronous ones.

    lane : a synchronous stream of the device, which no one else uses; what it does, it does at once
    """

    def __init__(self, device: Device, lane: Stream) -> None:
        # All that its end needs first: Ctrl-C may come before the last line.
        self._lane = lane
        self._progress = _Progress(lane._failure)
        self._worker = threading.Thread(
            target=_work, args=(lane, self._progress), name=f"{device.name} worker", daemon=True
        )
        super().__init__(device, is_synchronous=False, is_timed=lane.is_timed)
        self._failure = lane._failure
        self._worker.start()

    # In place of the class's door and not, by _set_door, of the object's: that would be a stream that refers to itself.
    def _submit(  # type: ignore[misc]  # final for providers
        self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Any
    ) -> Any:
        """Admit as the door does, and leave the run to the worker."""
        before = self._inside
        self._inside = True
        try:
            self._admit_all(what, memories)
        except BaseException:
            self._inside = before
            raise
        try:
            if run in _AT_ONCE:
                return run(self, memories, scalars)
            return self._place(_Task(what, self._sequence + 1, run, memories, scalars))
        finally:
            if not before:
                self._sequence += 1
            self._inside = before

    @final
    def _place(self, task: _Task) -> None:
        """Append a task. The retire list records events beside the thread that uses the stream."""
        progress = self._progress
        progress.name = self.name
        progress.tasks.append(task)
        progress.wakes.put("task")
        if progress.is_over:  # another thread has closed the stream, behind the door
            refuse_closed(self.name, self.device.name, task.what)

    def _record(self, *, timed: bool) -> WorkerEvent:
        event = WorkerEvent(self, is_timed=timed)
        self._place(_Task("record", self._sequence + 1, event._reach, (), ()))
        return event

    def _copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        self._place(_Task("copy", self._sequence + 1, lambda lane, *_: lane._copy(dst, src, nbytes), (), ()))

    def _is_idle(self) -> bool:
        return not self._progress.tasks

    def _pause(self, seconds: float) -> None:
        self._wake()
        self._progress.bell.rest(seconds)

    def _wake(self) -> None:
        """Let the worker look for tasks: Ctrl-C may have come between a task and its wake."""
        if self._progress.wakes.empty():
            self._progress.wakes.put("task")

    def _synchronize(self) -> None:
        """Wait for nothing: who asks for this has waited for _is_idle."""

    def _close(self) -> None:
        self._progress.wakes.put("")
        # A stream that was dropped may end in a finalizer, which runs in any thread.
        if self._worker.is_alive() and threading.current_thread() is not self._worker:
            self._worker.join()
        self._lane._finish()


@final
class WorkerEvent(Event):
    """A point in a worker's queue; the lane's own event, recorded when the worker gets there, knows the time."""

    def __init__(self, stream: WorkerStream, *, is_timed: bool) -> None:
        super().__init__(stream, is_timed=is_timed)
        self._reached = Latch()
        self._of_lane: Event | None = None

    def _reach(self, lane: Stream, *_: Any) -> None:
        try:
            self._of_lane = lane._record(timed=self.is_timed)
        finally:
            self._reached.open()

    def _is_done(self) -> bool:
        return self._reached.is_open

    def _pause(self, seconds: float) -> None:
        self.stream._wake()  # type: ignore[attr-defined]  # a WorkerStream, which made this event
        self._reached.rest(seconds)

    def _point(self) -> Event:
        if self._of_lane is None:
            message = f"seconds_since: the event was not recorded, because {self.stream.name} failed; record another"
            raise ValueError(message)
        return self._of_lane


def _work(lane: Stream, progress: _Progress) -> None:
    work_here()
    while progress.wakes.get():
        _do_all(lane, progress)
    progress.is_over = True
    _do_all(lane, progress)  # what was placed beside the end


def _do_all(lane: Stream, progress: _Progress) -> None:
    tasks = progress.tasks
    while tasks:
        task = tasks[0]
        try:
            task.run(lane, task.memories, task.scalars)
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            _tell(error, task, progress)
        del task  # while it waits for the next, the worker keeps nothing alive
        del tasks[0]  # only now: whoever finds none here finds all of them done
    progress.bell.ring()


def _tell(error: BaseException, task: _Task, progress: _Progress) -> None:
    if isinstance(error, DeviceError):
        error._hit(task.what, progress.name, task.sequence)
    else:
        error.add_note(place(task.what, progress.name, task.sequence))
    progress.failure.keep(error)
