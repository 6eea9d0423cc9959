"""A Lane does the tasks of any stream, one at a time, with a stream of the CPU's device for their kernels."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from ep.stream import doors

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Helper", "Lane"]


class Lane:
    """The tools of one worker thread."""

    def __init__(self, cpu: ep.Device) -> None:
        self.cpu = cpu
        self._stream: ep.Stream | None = None

    @property
    def stream(self) -> ep.Stream:
        """The CPU's stream; another one after the first was closed, as happens when the process ends."""
        if self._stream is None or self._stream.is_closed:
            self._stream = self.cpu.stream(synchronous=True)
            # The simulated stream has let this work in already; its validation mode has looked at contents.
            doors.remove(self._stream, "validation")
        return self._stream

    def close(self) -> None:
        """Close the stream."""
        if self._stream is not None:
            self._stream.close()


class Helper:
    """A lane with a thread of its own, for the second of two tasks that overlap."""

    def __init__(self, cpu: ep.Device) -> None:
        self._lane = Lane(cpu)
        self._given: queue.SimpleQueue[Callable[[Lane], object] | None] = queue.SimpleQueue()
        self._done = threading.Semaphore(0)
        self.thread = threading.Thread(target=self._work, name="ep_sim helper", daemon=True)
        self.thread.start()

    def begin(self, work: Callable[[Lane], object]) -> None:
        """Let the thread do something."""
        self._given.put(work)

    def join(self) -> None:
        """Wait for the work that was begun."""
        self._done.acquire()

    def close(self) -> None:
        """End the thread."""
        self._given.put(None)
        self.thread.join()
        self._lane.close()

    def _work(self) -> None:
        ep.spi.work_here()
        while (work := self._given.get()) is not None:
            work(self._lane)
            del work  # while it waits for the next, the thread keeps nothing alive
            self._done.release()
