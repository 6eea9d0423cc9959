"""Progress: the host's record of one queue of a far device, and the reader's part in it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from ep.locks import Bell

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_far.event import FarEvent


class Sent(NamedTuple):
    """One frame of work that is under way.

    ticket    : the work's place in its stream, for errors
    view      : the host's side of an upload or download
    body      : the bytes of a constant upload, which go with the frame
    event     : opened when the queue got past it
    function  : of the host
    nodes     : of a graph, what each of them is
    """

    ticket: ep.spi.Ticket
    view: memoryview | None = None
    body: memoryview | bytes = b""
    event: FarEvent | None = None
    function: Callable[[], object] | None = None
    nodes: tuple[str, ...] = ()


class Progress:
    """The work under way of one queue. The link holds it, but nothing else of the stream, which may be dropped.

    unsent     : placed, and not yet put out by the link's writer: serial number, work, frame. Placing is one append, so that a
                 handler that comes in finds all of a piece of work or nothing
    under_way  : by serial number, in the order of the queue
    bell       : rung when nothing is under way
    is_stopped : True from a failure until the queue is told that the error was raised
    """

    def __init__(self, ledger: ep.spi.Ledger) -> None:
        self.ledger = ledger
        self.under_way: dict[int, Sent] = {}
        self.unsent: deque[tuple[int, Sent, tuple[Any, ...]]] = deque()
        self.bell = Bell()
        self.is_stopped = False
        self.host = ep.HostThread(f"{ledger.device.name} call")

    def done(self, serial: int, nanoseconds: int) -> None:
        """Note that the queue got past a piece of work."""
        sent = self.under_way.pop(serial, None)
        if sent is not None and sent.event is not None:
            sent.event.reach(nanoseconds)
        if not self.under_way:
            self.bell.ring()

    def failed(self, serial: int, node: int | None, reason: str) -> None:
        """Report that a piece of work failed, under the name that it had when it was enqueued."""
        ticket, *_, nodes = self.under_way[serial]
        if node is not None:
            ticket = ticket.of(node, nodes[node])
        self.is_stopped = True
        self.ledger.failed(ticket, ep.DeviceError(reason, provider="far", call=ticket.what, code="failed"))

    def lose(self, error: ep.DeviceLostError) -> None:
        """Fail the work under way, because the device is lost: no event and no wait lasts."""
        unsent = [(serial, sent) for serial, sent, _ in [*self.unsent]]
        self.under_way.update(unsent)
        self.unsent.clear()
        for serial, sent in [*self.under_way.items()]:
            if sent.event is None:
                self.ledger.failed(sent.ticket, error)
            self.done(serial, 0)
        self.bell.ring()

    def call(self, serial: int, tell: Callable[[], object]) -> None:
        """Call a function of the host on a thread of its own, and tell the device when it is over."""
        function = self.under_way[serial].function
        assert function is not None

        def task() -> None:
            function()
            tell()

        self.host.do(task)
