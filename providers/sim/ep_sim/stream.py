"""The simulated stream: its tasks are done by the scheduler's workers, in order and as late as is legal."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import ep
from ep_sim.event import SimEvent
from ep_sim.native import address_of
from ep_sim.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_sim.device import SimDevice
    from ep_sim.lane import Lane
    from ep_sim.memory import Allocation
    from ep_sim.task import Queue

__all__ = ["SimStream"]


class Part(NamedTuple):
    """One enqueue that has become part of a larger task."""

    ticket: ep.spi.Ticket
    body: Callable[[Lane], object]
    touched: tuple[Allocation, ...]

    def perform(self, lane: Lane) -> None:
        """Do the work. Raises its errors, under the name of the part."""
        try:
            self.body(lane)
        except BaseException as error:
            self.ticket.blame(error)
            raise


class SimStream(ep.spi.Stream):
    """A queue of tasks. A synchronous one waits for each."""

    def __init__(
        self, device: SimDevice, ledger: ep.spi.Ledger, queue: Queue, *, is_synchronous: bool, is_timed: bool
    ) -> None:
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.device = device
        self._native = device.native
        self._queue = queue

    def enqueue(
        self, op: str, body: Callable[[Lane], object], touched: tuple[Allocation, ...] = (), **options: Any
    ) -> None:
        """Append a task, see task.Task; `kind`: "launch" or "copy" if it is one. Raises DeviceLostError."""
        device = self.device
        device.require_there()
        device.count_call()
        ticket = self.ledger.ticket(op)
        failure = device.next_failure(options.pop("kind", ""))
        doom = device.next_loss() or failure
        errors: list[BaseException] = []
        fail = errors.append if self.is_synchronous else self._fail
        task = Task(device, ticket, body, fail, touched, doom=doom, ledger=self.ledger, **options)
        device.scheduler.submit(self._queue, task)
        if self.is_synchronous:
            self.synchronize()
            if errors:
                raise errors[0]

    def together(self, op: str, enqueue: Callable[[SimStream], object]) -> None:
        """Make one task of all that `enqueue` puts into the stream that it is given."""
        taker = _Taker(self)
        enqueue(taker)
        parts = taker.parts
        touched = tuple(allocation for part in parts for allocation in part.touched)

        def body(lane: Lane) -> None:
            for part in parts:
                part.perform(lane)

        self.enqueue(op, body, touched)

    def hear(self) -> None:
        """Take over the device's error, for the next synchronisation."""
        error = self.device.lost_error() if self.device.is_lost else self.device.complaints.take()
        if error is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.ledger.failed(None, error)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        op = "copy" if not isinstance(src, memoryview) else "upload"
        op = "download" if isinstance(dst, memoryview) else op
        touched = tuple(side.handle.whole for side in (dst, src) if isinstance(side, ep.Memory))
        # A host buffer's address is taken now and it is kept by the task; the bytes are moved when the stream gets
        # there.
        to, come = self._shadow(dst), self._shadow(src)
        copy = self._native.lib.ep_sim_copy
        kept = [side for side in (dst, src) if isinstance(side, memoryview)]

        def body(_: Lane, __: object = kept) -> None:
            copy(to, come, nbytes)

        self.enqueue(op, body, touched, kind="copy")

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        at, nbytes, fill = self._shadow(dst), dst.nbytes, self._native.lib.ep_sim_fill
        self.enqueue("fill", lambda _: fill(at, nbytes, pattern, len(pattern)), (dst.handle.whole,))

    def record(self, *, timed: bool) -> SimEvent:
        del timed
        event = SimEvent(self)
        self.enqueue("record", event.reach, is_order=True)
        return event

    def can_wait(self, event: ep.Event) -> bool:
        del event
        return True  # nothing notifies a worker of such an event, so it polls

    def wait(self, event: ep.Event) -> None:
        device, twin = self.device, event.twin
        reached = twin.has_been_reached if isinstance(twin, SimEvent) else device.scheduler.poll(twin.is_done)
        self.enqueue("wait", _pass, is_order=True, gate=lambda: device.is_lost or reached())

    def call(self, function: Callable[[], object]) -> None:
        self._queue.host.do(_begin)  # a process that is about to end can begin no thread
        self.enqueue("call", lambda _: function(), is_call=True)

    def is_idle(self) -> bool:
        if not self._queue.is_idle:
            self.device.scheduler.look()
        return self._queue.is_idle

    def pause(self, seconds: float) -> None:
        self.device.scheduler.rest(lambda: self._queue.is_idle, seconds)

    def synchronize(self) -> None:
        self.device.scheduler.wait_idle(self._queue)
        self.hear()

    def dlpack_stream(self) -> Queue:
        return self._queue

    def close(self) -> None:
        self._queue.users -= 1
        if not self._queue.users:
            # The retire list may have recorded an event since the stream was seen idle.
            self.device.scheduler.wait_idle(self._queue)
            self.device.scheduler.close(self._queue)
            self._queue.host.close()

    def _shadow(self, side: ep.Memory | memoryview) -> int:
        if isinstance(side, memoryview):
            return address_of(self._native, side)
        shadow: int = side.handle.shadow + side.offset
        return shadow


class _Taker(SimStream):
    """Takes enqueues as parts of one task, for the code that puts it together; an interrupting handler uses the stream."""

    def __init__(self, stream: SimStream) -> None:
        super().__init__(stream.device, stream.ledger, stream._queue, is_synchronous=False, is_timed=stream.is_timed)  # noqa: SLF001 - of its own kind
        self.parts: list[Part] = []

    def enqueue(
        self,
        op: str,
        body: Callable[[Lane], object],
        touched: tuple[Allocation, ...] = (),
        **options: Any,
    ) -> None:
        """Take a part."""
        doom = self.device.next_failure(options.get("kind", ""))
        self.parts.append(Part(self.ledger.ticket(op), body if doom is None else partial(_fail, doom), touched))


def _begin() -> None:
    """Do nothing but let the thread begin."""


def _fail(doom: Callable[[], ep.DeviceError], _: object) -> None:
    raise doom()


def _pass(_: object) -> None:
    """Do nothing: the wait was the gate."""
