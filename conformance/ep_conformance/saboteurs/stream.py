"""The honest stream: a queue of tasks and a thread that does them in order, with small delays of its own."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from ep.locks import Latch

import ep
from ep import doors

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.saboteurs.device import HonestDevice
    from ep_conformance.saboteurs.event import HonestEvent

__all__ = ["HonestStream", "bytes_of"]

_DELAYED_SHARE: Final = 0.03
_DELAY_SECONDS: Final = 0.0005


def bytes_of(memory: ep.Memory) -> ep.Memory:
    """Return the CPU's memory behind a memory of the honest device."""
    found: ep.Memory = memory.handle.bytes_at(memory.offset, memory.nbytes)
    return found


class _Progress:
    """What a stream and its worker both know; the worker keeps nothing else of the stream, which may be dropped."""

    def __init__(self, seed: int, ledger: ep.spi.Ledger) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - delays, not secrets
        self.ledger = ledger
        self.tasks: deque[Callable[[], object]] = deque()  # the one that is under way stands first
        self.wakes: queue.SimpleQueue[str] = queue.SimpleQueue()  # "" for the end
        self.done = 0


class HonestStream(ep.spi.Stream):
    """An asynchronous queue; `cpu` is the CPU's stream on which its worker thread does the work."""

    def __init__(
        self,
        ledger: ep.spi.Ledger,
        device: HonestDevice,
        event_type: type[HonestEvent],
        *,
        seed: int,
        is_timed: bool,
    ) -> None:
        super().__init__(ledger, is_synchronous=False, is_timed=is_timed)
        self.device = device
        self.cpu = device.cpu.stream()
        doors.remove(
            self.cpu, "validation"
        )  # with EP_VALIDATE=1 the driver that it is would refuse what this stream let pass
        self._event_type = event_type
        self._progress = _Progress(seed, ledger)
        self._worker = threading.Thread(target=_work, args=(self._progress,), daemon=True)
        self._worker.start()

    def enqueue(self, task: Callable[[], object]) -> None:
        """Let the worker do a task after those before it."""
        self.device.count_call()
        self._progress.tasks.append(task)
        self._progress.wakes.put("task")

    @property
    def _enqueued(self) -> int:
        return self._progress.done + len(self._progress.tasks)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        del nbytes
        cpu = self.cpu
        if isinstance(src, memoryview):
            target, source = bytes_of(dst), src  # type: ignore[arg-type]  # one side at least is a Memory
            self.enqueue(lambda: cpu.upload(target, source))
        elif isinstance(dst, memoryview):
            buffer, origin = dst, bytes_of(src)
            self.enqueue(lambda: cpu.download(buffer, origin))
        else:
            into, out_of = bytes_of(dst), bytes_of(src)
            self.enqueue(lambda: cpu.copy(into, out_of))

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        cpu, target = self.cpu, bytes_of(dst)
        self.enqueue(lambda: cpu.fill(target, pattern))

    def record(self, *, timed: bool) -> HonestEvent:
        del timed
        event = self._event_type()
        self.enqueue(event.reach)
        return event

    def can_wait(self, event: ep.Event) -> bool:
        return event.device.provider is self.ledger.device.provider

    def wait(self, event: ep.Event) -> None:
        self.enqueue(event.twin.reached.wait)

    def call(self, function: Callable[[], object]) -> None:
        self.enqueue(function)

    def is_idle(self) -> bool:
        return not self._progress.tasks

    def synchronize(self) -> None:
        reached = Latch()
        self.enqueue(reached.open)
        reached.rest(threading.TIMEOUT_MAX)

    def close(self) -> None:
        self._progress.wakes.put("")
        self._worker.join()
        self.cpu.close()


def _work(progress: _Progress) -> None:
    ep.spi.work_here()  # a finalizer that comes in here may not wait for this thread
    while progress.wakes.get():
        while progress.tasks:
            task = progress.tasks[0]
            if progress.dice.random() < _DELAYED_SHARE:
                time.sleep(_DELAY_SECONDS)
            try:
                task()
            except ep.EpError as error:
                progress.ledger.failed(None, error)
            finally:
                progress.done += 1
                del progress.tasks[0]
            del task  # while it waits for the next, the worker keeps nothing alive
