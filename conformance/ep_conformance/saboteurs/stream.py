"""The honest stream: a queue of tasks and a thread that does them in order, with small delays of its own."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from ep.locks import Latch
from ep.stream import doors

import ep

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

    def work(self, task: Callable[[], object], kind: str = "") -> Callable[[], object]:
        """Return a task that is work of the device, which fails on request; behind work that failed it is not begun.

        kind : "kernel" or "copy" if it counts as one
        """
        device, ledger, own = self.device, self.ledger, type(self)
        device.require_there()
        ticket, is_doomed = ledger.ticket(), device.strikes(kind)

        def perform() -> None:
            if not own.may_begin(ledger):
                return
            try:
                device.require_there()
                if is_doomed:
                    device.fail(kind)
                task()
            except ep.EpError as error:
                own.report(ledger, ticket, error)

        return perform

    @staticmethod
    def may_begin(ledger: ep.spi.Ledger) -> bool:
        """Say whether work may begin."""
        return not ledger.has_failed

    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        """Report that work failed."""
        ledger.failed(ticket, error)

    def hear(self) -> Callable[[], object]:
        """Return what reports to this stream that its device is lost, if it is; it keeps no stream alive."""
        device, ledger = self.device, self.ledger
        return lambda: ledger.failed(None, device.lost_error()) if device.is_lost else None

    @property
    def _enqueued(self) -> int:
        return self._progress.done + len(self._progress.tasks)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        del nbytes
        cpu = self.cpu
        if isinstance(src, memoryview):
            target, source = bytes_of(dst), src  # type: ignore[arg-type]  # one side at least is a Memory
            self.enqueue(self.work(lambda: cpu.upload(target, source), "copy"))
        elif isinstance(dst, memoryview):
            buffer, origin = dst, bytes_of(src)
            self.enqueue(self.work(lambda: cpu.download(buffer, origin), "copy"))
        else:
            into, out_of = bytes_of(dst), bytes_of(src)
            self.enqueue(self.work(lambda: cpu.copy(into, out_of), "copy"))

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        cpu, target = self.cpu, bytes_of(dst)
        self.enqueue(self.work(lambda: cpu.fill(target, pattern)))

    def record(self, *, timed: bool) -> HonestEvent:
        del timed
        self.device.require_there()
        event = self._event_type().of(self)
        self.enqueue(event.reach)
        return event

    def can_wait(self, event: ep.Event) -> bool:
        return event.device.provider is self.ledger.device.provider

    def wait(self, event: ep.Event) -> None:
        self.device.require_there()
        self.enqueue(event.twin.reached.wait)

    def call(self, function: Callable[[], object]) -> None:
        self.enqueue(self.work(function))

    def is_idle(self) -> bool:
        return not self._progress.tasks

    def synchronize(self) -> None:
        reached = Latch()
        self.enqueue(reached.open)
        reached.rest(threading.TIMEOUT_MAX)
        self.hear()()

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
