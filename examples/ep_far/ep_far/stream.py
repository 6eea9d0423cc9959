"""The far stream: each verb is one frame, and the device reports its end later."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ep.locks import first

import ep
from ep_far.event import FarEvent
from ep_far.progress import Progress, Sent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_far.link import Link

_SLICE_SECONDS = 0.05


class FarStream(ep.spi.Stream):
    """An asynchronous queue of the device."""

    def __init__(self, ledger: ep.spi.Ledger, link: Link, *, is_timed: bool) -> None:
        super().__init__(ledger, is_synchronous=False, is_timed=is_timed)
        self.link = link
        self._number = link.number()
        self._serials = itertools.count(1)
        self._progress = link.queues[self._number] = Progress(ledger)
        link.send("queue", self._number)

    def enqueue(self, verb: str, *arguments: Any, **sent: Any) -> None:
        """Send a piece of work, see progress.Sent. Raises DeviceLostError."""
        link, progress = self.link, self._progress
        if link.is_lost:
            raise link.lost_error()
        if progress.is_stopped and not self.ledger.has_failed:  # the error has been raised
            progress.is_stopped = False
            link.send("resume", self._number, 0)
        serial = next(self._serials)
        progress.unsent.append((serial, Sent(self.ledger.ticket(), **sent), (verb, self._number, serial, *arguments)))
        link.put_out(progress, serial)
        if link.is_lost:  # the reader may have gone through the list before
            progress.lose(link.lost_error())

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview):
            self.enqueue("download", *place_of(src), nbytes, view=dst)
        elif isinstance(src, memoryview):
            self.enqueue("upload", *place_of(dst), nbytes, view=src)
        else:
            self.enqueue("copy", nbytes, place_of(dst), place_of(src))

    def upload_constant(self, dst: ep.Memory, src: memoryview, nbytes: int) -> None:
        self.enqueue("upload", *place_of(dst), nbytes, body=src)

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        self.enqueue("fill", dst.nbytes, pattern.hex(), place_of(dst))

    def record(self, *, timed: bool) -> FarEvent:
        del timed  # each frame brings the device's time
        event = FarEvent(self.link, self._progress)
        self.enqueue("record", event.number, event=event)
        return event

    def wait(self, event: ep.Event) -> None:
        self.enqueue("wait", event.twin.number)

    def call(self, function: Callable[[], object]) -> None:
        self.enqueue("call", function=function)

    def is_idle(self) -> bool:
        progress = self._progress
        if (placed := first(progress.unsent)) is not None:  # a handler came in before it was put out
            self.link.put_out(progress, placed[0])
        return not progress.unsent and not progress.under_way

    def pause(self, seconds: float) -> None:
        self._progress.bell.rest(seconds)

    def synchronize(self) -> None:
        while not self.is_idle():
            self.pause(_SLICE_SECONDS)
        if self.link.is_lost:
            self.ledger.failed(None, self.link.lost_error())

    def close(self) -> None:
        self.link.queues.pop(self._number, None)
        self._progress.host.close()
        self.link.send("close", self._number)


def place_of(side: Any) -> tuple[int, int]:
    """Return a memory as the device knows it: a handle, and an offset in bytes."""
    return side.handle, side.offset
