"""A Task is one piece of work; a Queue holds the tasks of one stream, in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ep.ground.callback import HostThread

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep
    from ep_sim.device import SimDevice
    from ep_sim.lane import Lane
    from ep_sim.memory import Allocation

__all__ = ["Queue", "Task"]


class Task:
    """One piece of work of a stream.

    ticket    : which enqueue it is, for errors and for the history of the device
    ledger    : its stream's; after work that failed it is not begun
    body      : the work, for a lane
    fail      : takes its error
    touched   : the allocations that it uses
    gate      : says whether it may begin; None: as soon as those before it are done
    is_call   : True for a function of the host, which may take long: it gets the queue's thread
    is_order  : True for events and waits, which a lost device passes, so that no wait is for ever
    doom      : raises the injected failure in place of the work; None: no failure
    is_placed : True from its enqueue until it is done
    """

    __slots__ = (
        "body",
        "device",
        "doom",
        "fail",
        "gate",
        "is_call",
        "is_order",
        "is_placed",
        "ledger",
        "ticket",
        "touched",
    )

    def __init__(  # noqa: PLR0913 - a record
        self,
        device: SimDevice,
        ticket: ep.spi.Ticket,
        body: Callable[[Lane], object],
        fail: Callable[[BaseException], object],
        touched: tuple[Allocation, ...] = (),
        *,
        gate: Callable[[], bool] | None = None,
        is_order: bool = False,
        is_call: bool = False,
        doom: Callable[[], ep.DeviceError] | None = None,
        ledger: ep.spi.Ledger,
    ) -> None:
        self.device = device
        self.ticket = ticket
        self.body = body
        self.fail = fail
        self.touched = touched
        self.gate = gate
        self.is_order = is_order
        self.is_call = is_call
        self.doom = doom
        self.ledger = ledger
        self.is_placed = False

    def perform(self, lane: Lane) -> None:
        """Do the work, and catch its error, unless earlier work failed and no synchronisation has raised that yet."""
        try:
            if self.is_order or not self.ledger.has_failed:
                self._perform(lane)
        except BaseException as error:  # noqa: BLE001 - a worker hands on any error of the work
            self.ticket.blame(error)
            self.fail(error)

    def _perform(self, lane: Lane) -> None:
        doom = self.doom() if self.doom is not None else None
        if doom is not None and not self.is_order:
            raise doom
        if not self.is_order:
            for device in {self.device, *(allocation.device for allocation in self.touched)}:
                device.require_there()
        self.body(lane)


class Queue:
    """The tasks of one stream: the counterpart of a driver's native queue. The host appends, the scheduler takes.

    users     : streams that enqueue into it
    priority  : of the stream: higher first
    rank      : drawn by the scheduler, which prefers the highest among equals
    is_busy   : True while the task that was taken last is under way
    host      : the thread for functions of the host
    """

    __slots__ = ("device", "host", "is_busy", "priority", "rank", "tasks", "users")

    def __init__(self, device: SimDevice, priority: int, rank: float) -> None:
        self.device = device
        self.users = 0
        self.priority = priority
        self.rank = rank
        self.tasks: deque[Task] = deque()
        self.is_busy = False
        self.host = HostThread(f"{device.name} call")

    @property
    def is_idle(self) -> bool:
        """True if nothing is waiting or under way."""
        return not self.tasks and not self.is_busy

    @property
    def is_ready(self) -> bool:
        """True if its next task may begin now."""
        if self.is_busy:
            return False
        try:
            gate = self.tasks[0].gate
        except IndexError:
            return False
        return gate is None or gate()
