"""A WorkerStream is asynchronous: a thread of its own does its work, in order, on a synchronous stream of the device."""

from __future__ import annotations

import queue
import threading
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, final

from ep import verbs
from ep.errors import DeviceError
from ep.event import Event
from ep.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.device import Device
    from ep.memory import Memory

__all__ = ["WorkerEvent", "WorkerStream"]


class _Task(NamedTuple):
    """One enqueue, as the door got it."""

    what: Any
    sequence: int
    run: Callable[[Any, tuple[Memory, ...], tuple[Any, ...]], Any]
    memories: tuple[Memory, ...]
    scalars: tuple[Any, ...]


class _Progress:
    """What a stream and its worker both know; the worker keeps nothing else of the stream."""

    __slots__ = ("done", "idle", "placed", "tasks")

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
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
        self._progress = _Progress()
        self._placing = threading.Lock()
        self._worker = threading.Thread(
            target=_work, args=(lane, self._progress, weakref.ref(self)), name=f"{device.name} worker", daemon=True
        )
        self._worker.start()
        self._set_door(self._defer)

    @final
    def _defer(self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Any) -> Any:
        """Take the place of _submit: pass what the door passes, and leave the run to the worker."""
        self._pass(what, memories)
        if run is verbs.record:
            return self._record(timed=scalars[0])
        return self._place(_Task(what, self._sequence, run, memories, scalars))

    @final
    def _place(self, task: _Task) -> None:
        # The retire list records events beside the thread that uses the stream.
        with self._placing:
            self._progress.placed += 1
            self._progress.tasks.put(task)

    def _record(self, *, timed: bool) -> WorkerEvent:
        event = WorkerEvent(self, is_timed=timed)
        self._place(_Task("record", self._sequence, event._reach, (), ()))
        return event

    def _copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        self._place(_Task("copy", self._sequence, lambda lane, *_: lane._copy(dst, src, nbytes), (), ()))

    def _is_idle(self) -> bool:
        return self._progress.done == self._progress.placed

    def _pause(self, seconds: float) -> None:
        with self._progress.idle:
            if not self._is_idle():
                self._progress.idle.wait(seconds)

    def _synchronize(self) -> None:
        while not self._is_idle():
            self._pause(1.0)

    def _close(self) -> None:
        self._progress.tasks.put(None)
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
        return self._of_lane or self


def _work(lane: Stream, progress: _Progress, stream: weakref.ref[WorkerStream]) -> None:
    while (task := progress.tasks.get()) is not None:
        try:
            task.run(lane, task.memories, task.scalars)
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            _tell(error, task, stream())
        del task  # while it waits for the next, the worker keeps nothing alive
        with progress.idle:
            progress.done += 1
            if progress.done == progress.placed:
                progress.idle.notify_all()


def _tell(error: BaseException, task: _Task, stream: WorkerStream | None) -> None:
    if stream is None:
        return
    if isinstance(error, DeviceError):
        error._hit(task.what, stream.name, task.sequence)
    else:
        error.add_note(f"enqueue {task.sequence} of {stream.name}: {task.what}")
    stream._fail(error)
