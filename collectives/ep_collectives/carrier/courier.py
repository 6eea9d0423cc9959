"""A Courier does a rank's collectives beside streams that run on a queue of the driver, which no thread of EP works for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ep.locks import Latch

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[ep.spi.Stream], None]

__all__ = ["Courier"]

_SLICE: Final = 0.02
"""Seconds between two looks at whether the stream has failed and will never get there."""


class Courier:
    """A thread with a stream of its own on the rank's device."""

    def __init__(self, device: ep.Device, rank: int) -> None:
        self._device = device
        self._host = ep.HostThread(f"{device.name} rank {rank}")
        self._stream: ep.Stream | None = None

    def carry(self, stream: ep.spi.Stream, work: Work) -> None:
        """Enqueue that work is done when a stream gets there; later work of the stream waits for it.

        A host function holds the stream meanwhile. It does none of the work, because not every driver lets one call it.
        """
        if self._stream is None:
            self._stream = self._device.stream()
        reached, done = Latch(), Latch()
        ticket = stream.ledger.ticket()
        ledger = stream.ledger.behind(ticket)
        self._host.do(partial(_do, partial(work, self._stream.twin), (reached, done), ledger, ticket))
        stream.call(partial(_hold, reached, done))

    def close(self) -> None:
        """End the thread when it has done what it was given."""
        self._host.close()


def _hold(reached: Latch, done: Latch) -> None:
    """Keep a stream from going on, as a function of the host in it."""
    reached.open()
    while not done.is_open:
        done.rest(_SLICE)


def _do(work: Callable[[], None], latches: tuple[Latch, Latch], ledger: ep.spi.Ledger, ticket: ep.spi.Ticket) -> None:
    reached, done = latches
    while not reached.is_open and not ledger.has_failed:
        reached.rest(_SLICE)
    try:
        if reached.is_open:  # else the other ranks wait for it in vain
            work()
    except BaseException as error:  # noqa: BLE001 - the stream's next synchronisation raises it
        ledger.failed(ticket, error)
    finally:
        done.open()
