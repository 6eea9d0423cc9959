"""A Link is the host's end of the socket to one device: frames go out in order, and come in on a thread of their own."""

from __future__ import annotations

import itertools
import queue
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ep.locks import Latch, drop, first

import ep
from ep_far import wire

if TYPE_CHECKING:
    from ep_far.progress import Progress

_SERVE = "import sys; sys.path[:] = {path!r}; from ep_far.server import serve; serve({descriptor})"
_ENDING_SECONDS = 10.0


class Link:
    """The process of a device. Frames are put out by any thread, also by a handler that interrupts one that does.

    process  : of the device
    lost     : opened when the process is gone although the link was not closed
    queues   : the work under way, by the number of the queue
    sent     : frames so far
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.lost = Latch()
        self.queues: dict[int, Progress] = {}
        self.sent = 0
        self._numbers = itertools.count(1)
        self._frames = itertools.count(1)
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._is_closing = False
        self._end, theirs = socket.socketpair()
        with theirs:
            program = _SERVE.format(path=sys.path, descriptor=theirs.fileno())
            # A session of its own: Ctrl-C is the host's.
            self.process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-c", program], pass_fds=[theirs.fileno()], start_new_session=True
            )
        threading.Thread(target=self._write, name=f"{device} writer", daemon=True).start()
        threading.Thread(target=self._read, name=f"{device} reader", daemon=True).start()

    @property
    def is_lost(self) -> bool:
        """True once the process is gone although the link was not closed: for good."""
        return self.lost.is_open

    def number(self) -> int:
        """Return a number that nothing of this device has yet."""
        return next(self._numbers)

    def send(self, *head: Any, body: Any = b"") -> None:
        """Put out a frame; its bytes are read later."""
        self.sent = next(self._frames)
        self._outbox.put((head, body))

    def put_out(self, progress: Progress, last: int) -> None:
        """Let the writer send a queue's work up to a serial number, and nothing that needs later frames."""
        self.sent = next(self._frames)
        self._outbox.put((progress, last))

    def lost_error(self) -> ep.DeviceLostError:
        """Return the error of a device whose process is gone."""
        message = f"{self.device} is lost: its process ended; close what it made, then the device, and open it again"
        return ep.DeviceLostError(message, provider="far", call="recv", code="end of file")

    def close(self) -> None:
        """Let the process end: it ends when the other end of the socket is closed."""
        self._is_closing = True
        with suppress(OSError):  # its process is gone
            self._end.shutdown(socket.SHUT_RDWR)
        self._outbox.put(None)
        try:
            self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _write(self) -> None:
        ep.spi.work_here()  # a finalizer that comes in here may not wait for this thread
        while (frame := self._outbox.get()) is not None:
            try:
                if isinstance(frame[0], tuple):
                    wire.send(self._end, *frame)
                else:
                    self._send_up_to(*frame)
            except OSError:
                return  # the reader sees it, too

    def _send_up_to(self, progress: Progress, last: int) -> None:
        while (placed := first(progress.unsent)) is not None and placed[0] <= last:
            serial, sent, head = placed
            progress.under_way[serial] = sent
            if drop(progress.unsent, placed):  # else the device was lost meanwhile
                wire.send(self._end, head, sent.body)

    def _read(self) -> None:
        ep.spi.work_here()  # as above
        while (head := wire.receive(self._end, self._place)) is not None:
            self._hear(*head)
        self._end.close()
        if not self._is_closing:
            self.lost.open()
            for progress in [*self.queues.values()]:
                progress.lose(self.lost_error())

    def _place(self, head: list[Any], nbytes: int) -> memoryview:
        """Return the host's buffer for the bytes of a download."""
        _, number, serial = head
        found = self.queues[number].under_way[serial].view
        assert found is not None
        assert found.nbytes == nbytes
        return found

    def _hear(self, verb: str, number: int, *rest: Any) -> None:
        match verb, rest:
            case "done", (serial, nanoseconds):
                self.queues[number].done(serial, nanoseconds)
            case "failed", (serial, node, reason):
                self.queues[number].failed(serial, node, reason)
            case "pull", (serial,):
                self.send("pushed", number, serial, body=self.queues[number].under_way[serial].view)
            case "call", (serial,):
                self.queues[number].call(serial, lambda: self.send("called", number, serial))
