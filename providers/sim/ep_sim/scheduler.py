"""One Scheduler decides for all simulated devices which stream goes on next: everything legally unordered, by a seed.

Time stands still until the host looks. An event that is polled, a wait, or now and then an enqueue lets the devices do a
number of rounds, and the host goes on when these are done. So the seed and the program decide all that happens between
two looks. If the host does not look at a device for a while, the device goes on by itself.

The lock is held for assignments alone, see ep.locks: a handler that interrupts a thread of the host may wait for devices.
"""

from __future__ import annotations

import operator
import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Final

from ep.ground.callback import check_may_wait
from ep.locks import Bell

import ep
from ep_sim.dice import Dice
from ep_sim.lane import Helper, Lane
from ep_sim.task import Queue, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_sim.device import SimDevice

__all__ = ["Scheduler"]

_LOOK_SECONDS: Final = 0.05  # a look is no wait: the host goes on although the rounds are not done
_SLICE_SECONDS: Final = 0.002  # of several threads that wait the bell wakes one
_CALL_SECONDS: Final = 0.002  # after which other streams go on beside a function of the host
_POLL_SECONDS: Final = 0.0005  # for events of other providers
_BACKLOG: Final = 4096  # tasks that may wait before the devices go on unasked
_REMEMBERED: Final = 10_000
_ALL: Final = 1 << 30  # rounds


class Scheduler:
    """The queues of all streams, and the threads that work on them.

    history  : the last tasks begun, oldest first
    patience : seconds without an enqueue or a look after which the devices go on by themselves
    """

    def __init__(self, cpu: ep.Device, seed: int, patience: float) -> None:
        self.cpu = cpu
        self.patience = patience
        self.history: deque[tuple[str, int, str]] = deque(maxlen=_REMEMBERED)
        self._dice = Dice(seed)
        self._lock = threading.RLock()
        self._alarm = Bell()  # where the devices wait
        self._bell = Bell()  # where the host waits
        self._queues: list[Queue] = []
        self._polled: deque[Callable[[], bool]] = deque()
        self._thread: threading.Thread | None = None
        self._helper: Helper | None = None
        self._credit = 0  # rounds that lookers have granted
        self._looks = 0  # since the last enqueue
        self._waiting = 0  # tasks
        self._newest = 0.0  # when the last of them came, or the host looked
        self._goes_on = False  # until nothing is ready
        self._is_running = False
        self._is_ending = False

    def reseed(self, seed: int) -> None:
        """Let all further choices follow from another seed."""
        self._dice.reseed(seed)
        for queue in self._queues:
            queue.rank = self._dice.rank()
        self.history.clear()

    # For streams, from the threads of the host.

    def open(self, device: SimDevice, priority: int) -> Queue:
        """Return the queue of a new stream."""
        queue = Queue(device, priority, self._dice.rank())
        self._queues.append(queue)
        if self._thread is None:
            self._start()
        return queue

    def close(self, queue: Queue) -> None:
        """Forget a queue, which is empty."""
        self._queues.remove(queue)

    def submit(self, queue: Queue, task: Task) -> None:
        """Append a task."""
        _for_all("add", task)
        now, tasks = time.monotonic(), queue.tasks
        with self._lock:
            self._newest = now
            self._looks = 0
            self._waiting += 1
            task.is_placed = True
            tasks += (task,)
        if self._thread is None:
            self._start()
        self._alarm.ring()
        if self._dice.is_eager():
            self._grant(1)

    def look(self) -> None:
        """Let the devices go on for some rounds, because the host asks how far they are; more, if it asks again."""
        now = time.monotonic()
        with self._lock:
            self._looks += 1
            self._newest = now
        rounds = self._dice.rounds(self._looks)
        if rounds:
            self._grant(rounds)

    def rest(self, is_over: Callable[[], bool], seconds: float) -> None:
        """Let the host rest until something is over, `seconds` at most."""
        end = time.monotonic() + seconds
        while not is_over() and (left := end - time.monotonic()) > 0:
            self._bell.rest(min(left, _SLICE_SECONDS))

    def wait_idle(self, queue: Queue) -> None:
        """Let the host wait until a queue is idle. Raises ValueError for a finalizer on a thread of the devices."""
        while not queue.is_idle:
            check_may_wait("a verb of a synchronous stream")
            self._grant(_ALL)
            self.rest(lambda: queue.is_idle, _POLL_SECONDS)

    def poll(self, question: Callable[[], bool]) -> Callable[[], bool]:
        """Return a gate that opens once a question, asked outside of the lock again and again, was answered by True."""
        answers: list[bool] = []

        def ask() -> bool:
            try:
                is_open = question()
            except Exception:  # noqa: BLE001 - the next question raises it again; a wait for failed work ends
                is_open = True
            if is_open:
                answers.append(True)
            return is_open

        self._polled.append(ask)
        self._alarm.ring()
        return lambda: bool(answers)

    def end(self) -> None:
        """End the threads, unless a stream is still open; the next task starts them again."""
        thread, helper = self._thread, self._helper
        if self._queues or thread is None:
            return
        self._is_ending = True
        self._alarm.ring()
        thread.join()
        if helper is not None:
            helper.close()
        with self._lock:
            self._thread = self._helper = None
            self._is_ending = False
        if self._waiting:  # for a stream that was opened meanwhile
            self._start()

    def _grant(self, rounds: int) -> None:
        """Let some rounds be done and wait for them, if this is a thread that may."""
        if not any(queue.is_ready for queue in [*self._queues]):
            return
        with self._lock:
            if self._credit < rounds:  # noqa: PLR1730 - no call under a lock
                self._credit = rounds
        self._alarm.ring()
        mine, helper = threading.current_thread(), self._helper
        if mine is not self._thread and (helper is None or mine is not helper.thread):
            self.rest(lambda: not self._credit and not self._is_running, max(_LOOK_SECONDS, self.patience))

    def _start(self) -> None:
        # Both now: a process that is about to end can wait for threads, but not begin any.
        helper = Helper(self.cpu)
        thread = threading.Thread(target=self._work, name="ep_sim scheduler", daemon=True)
        if self._thread is None:
            self._helper, self._thread = helper, thread
            thread.start()
        else:  # a handler came in and has begun one
            helper.close()

    # The scheduler's own thread.

    def _work(self) -> None:
        ep.spi.work_here()
        lane = Lane(self.cpu)
        while not self._is_ending:
            self._ask()
            self._is_running = True  # first, so that no thread finds the credit used up and nothing running
            chosen = self._choose()
            self._is_running = bool(chosen)
            if not chosen:
                self._bell.ring()
                self._alarm.rest(self._seconds())
                continue
            self._do(chosen, lane)
            self._is_running = False
            if not self._credit:
                self._bell.ring()
        lane.close()

    def _ask(self) -> None:
        """Ask other providers' events, without the lock: their code is foreign."""
        for _ in range(len(self._polled)):
            question = self._polled.popleft()
            if not question():
                self._polled.append(question)

    def _choose(self) -> list[tuple[Queue, Task]]:
        """Take the tasks of the next round: none, one, or two of different streams."""
        ready = [queue for queue in self._queues if queue.is_ready]
        if not ready:
            self._goes_on = False
            self._credit = 0
            return []
        overdue = self._waiting > _BACKLOG or time.monotonic() >= self._newest + self.patience
        self._goes_on = self._goes_on or overdue
        if not self._credit and not self._goes_on:
            return []
        with self._lock:
            if self._credit:
                self._credit -= 1
        return [(queue, self._take(queue)) for queue in self._dice.choose(ready)]

    def _take(self, queue: Queue) -> Task:
        queue.is_busy = True
        with self._lock:
            self._waiting -= 1
        task = queue.tasks.popleft()
        self.history.append((task.ticket.stream, task.ticket.sequence, task.ticket.what))
        return task

    def _seconds(self) -> float:
        """Return for how long there is nothing to do unless the alarm is rung."""
        if self._polled:
            return _POLL_SECONDS
        if any(queue.is_ready for queue in [*self._queues]):
            return max(0.0, self._newest + self.patience - time.monotonic())
        return threading.TIMEOUT_MAX

    def _do(self, chosen: list[tuple[Queue, Task]], lane: Lane) -> None:
        if delay := self._dice.delay():
            time.sleep(delay)
        (queue, task), *others = chosen
        if task.is_call:
            queue.host.do(partial(self._finish, queue, task, lane))
            end = time.monotonic() + _CALL_SECONDS
            while queue.is_busy and (left := end - time.monotonic()) > 0:
                self._alarm.rest(left)
            return
        assert self._helper is not None
        for other, beside in others:
            self._helper.begin(partial(self._finish, other, beside))
        self._finish(queue, task, lane)
        if others:
            self._helper.join()

    def _finish(self, queue: Queue, task: Task, lane: Lane) -> None:
        task.perform(lane)
        task.is_placed = False
        _for_all("discard", task)
        queue.is_busy = False
        self._bell.ring()
        if task.is_call:
            self._alarm.ring()


def _for_all(verb: str, task: Task) -> None:
    """Add a task to the users of all that it touches, or discard it there: in one call, which nothing interrupts."""
    deque(map(operator.methodcaller(verb, task), [allocation.users for allocation in task.touched]), maxlen=0)
