"""A Worker is asynchronous: a thread of its own does its work, in order, on a synchronous stream of the device."""

from __future__ import annotations

import queue
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, final

from ep.errors import ClosedError, DeviceError
from ep.ground.callback import work_here
from ep.ground.ledger import Ticket
from ep.locks import Bell, Latch
from ep.spi.event import Event
from ep.spi.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.memory.memory import Memory

    Run = Callable[[Stream, tuple[Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Worker"]

_ORDER: Final = ("record", "wait")
"""Verbs that are run even after work failed, so that no host and no stream waits for ever."""


class _Task(NamedTuple):
    """One enqueue: the arguments that the door received."""

    what: Any
    sequence: int
    run: Run
    memories: tuple[Memory, ...]
    scalars: tuple[Any, ...]


class _Progress:
    """The state that a stream and its worker share. The worker keeps nothing else of the stream, which may be dropped.

    tasks    : enqueued and not finished: the one that is under way stands first
    wakes    : "task" for each task that was enqueued, "" for the end of the stream
    bell     : rung when nothing is under way, so that a waiting thread may rest
    is_over  : True once the worker takes no more tasks
    """

    __slots__ = ("bell", "is_over", "tasks", "wakes")

    def __init__(self) -> None:
        self.tasks: deque[_Task] = deque()
        self.wakes: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.bell = Bell()
        self.is_over = False


@final
class Worker(Stream):
    """Makes an asynchronous stream of a synchronous one.

    lane : a synchronous stream for this worker alone; its methods return when their work is done

    Raises DeviceError where the system has no more threads.
    """

    def __init__(self, lane: Stream) -> None:
        # Attributes that the finalizer needs come first: Ctrl-C may come before the last line.
        self._lane = lane
        self._progress = _Progress()
        name = f"{lane.ledger.device.name} worker"
        self._thread = threading.Thread(target=_work, args=(lane, self._progress), name=name, daemon=True)
        super().__init__(lane.ledger, is_synchronous=False, is_timed=lane.is_timed)
        try:
            self._thread.start()
        except RuntimeError as error:
            message = f"{name}: there is no thread for an asynchronous stream ({error}); close streams, or make synchronous ones"
            raise DeviceError(message) from None

    def place(self, what: Any, run: Run, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
        """Leave a run to the worker. Called beside the thread that uses the stream, too: the retire list records events.

        what : the Primitive or Step launched, or the name of the verb
        """
        progress = self._progress
        progress.tasks.append(_Task(what, self.ledger.sequence, run, memories, scalars))
        progress.wakes.put("task")
        if progress.is_over:  # another thread closed the stream after the work had passed the door
            self._refuse(what)

    def record(self, *, timed: bool) -> _WorkerEvent:
        event = _WorkerEvent(self, is_timed=timed)
        self.place("record", event.reach, (), ())
        return event

    def copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        self.place("copy", lambda lane, *_: lane.copy(dst, src, nbytes), (), ())

    def is_idle(self) -> bool:
        return not self._progress.tasks

    def pause(self, seconds: float) -> None:
        self.wake()
        self._progress.bell.rest(seconds)

    def wake(self) -> None:
        """Let the worker look for tasks: Ctrl-C may have come between a task and its wake."""
        if self._progress.wakes.empty():
            self._progress.wakes.put("task")

    def synchronize(self) -> None:
        """Wait for nothing: the caller has waited for is_idle."""

    def close(self) -> None:
        self._progress.wakes.put("")
        # A stream that was dropped may end in a finalizer, which runs in any thread.
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()
        self._lane.close()

    def _refuse(self, what: Any) -> NoReturn:
        message = f"{what}: {self.ledger.name} was closed; make another with device.stream()"
        raise ClosedError(message)


@final
class _WorkerEvent(Event):
    """A point in a worker's queue; the lane's own event, recorded when the worker gets there, knows the time."""

    def __init__(self, stream: Worker, *, is_timed: bool) -> None:
        self._stream = stream
        self._is_timed = is_timed
        self._reached = Latch()
        self._of_lane: Event | None = None

    def reach(self, lane: Stream, *_: Any) -> None:
        """Note that the worker got here."""
        try:
            self._of_lane = lane.record(timed=self._is_timed)
        finally:
            self._reached.open()

    def is_done(self) -> bool:
        return self._reached.is_open

    def pause(self, seconds: float) -> None:
        self._stream.wake()
        self._reached.rest(seconds)

    def point(self) -> Event:
        if self._of_lane is None:
            message = (
                f"seconds_since: the event was not recorded, because {self._stream.ledger.name} failed; record another"
            )
            raise ValueError(message)
        return self._of_lane


def _work(lane: Stream, progress: _Progress) -> None:
    work_here()
    while progress.wakes.get():
        _do_all(lane, progress)
    progress.is_over = True
    _do_all(lane, progress)  # tasks that were placed while it ended


def _do_all(lane: Stream, progress: _Progress) -> None:
    tasks, ledger = progress.tasks, lane.ledger
    while tasks:
        task = tasks[0]
        try:
            ledger.turn_to(task.what, task.sequence)
            if task.what in _ORDER or not ledger.has_failed:
                task.run(lane, task.memories, task.scalars)
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            ledger.failed(Ticket(str(task.what), ledger.name, task.sequence), error)
        del task  # while it waits for the next, the worker keeps nothing alive
        del tasks[0]  # only now: an empty list means that all tasks are done
    progress.bell.ring()
