"""A Courier does a rank's collectives beside streams that run on a queue of the driver, which no thread of EP works for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ep.ground.waiting import wait_until
from ep.locks import Latch
from ep.stream import verbs
from ep.stream.event import Event

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[ep.spi.Stream], None]

__all__ = ["Courier"]

_WHAT: Final = "collective"


class _Done(ep.spi.Event):
    """The end of a courier's work, for which streams wait."""

    def __init__(self) -> None:
        self.latch = Latch()

    def is_done(self) -> bool:
        return self.latch.is_open

    def pause(self, seconds: float) -> None:
        self.latch.rest(seconds)


class Courier:
    """A thread with a stream of its own on the rank's device."""

    def __init__(self, device: ep.Device, rank: int) -> None:
        self._device = device
        self._host = ep.HostThread(f"{device.name} rank {rank}")
        self._stream: ep.Stream | None = None

    def carry(self, stream: ep.spi.Stream, work: Work) -> None:
        """Enqueue that work is done when a stream gets there; later work of the stream waits for it."""
        if self._stream is None:
            self._stream = self._device.stream()
        ready, done = stream.record(timed=False), _Done()
        ticket = stream.ledger.ticket()
        fail = partial(stream.ledger.behind(ticket).failed, ticket)
        self._host.do(partial(_do, partial(work, self._stream.twin), ready, done, fail))
        verbs.wait(stream, (), (Event(self._stream, done, is_timed=False),))

    def close(self) -> None:
        """End the thread when it has done what it was given."""
        self._host.close()


def _do(work: Callable[[], None], ready: ep.spi.Event, done: _Done, fail: Callable[[BaseException], None]) -> None:
    try:
        wait_until(ready.is_done, None, _WHAT, ready.pause)
        work()
    except BaseException as error:  # noqa: BLE001 - the stream's next synchronisation raises it
        fail(error)
    finally:
        done.latch.open()
