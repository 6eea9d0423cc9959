"""Waiter: a thread that waits for a queue, where the driver works in threads that wait."""

from __future__ import annotations

import functools
import time
from collections import deque
from ctypes import c_void_p
from typing import TYPE_CHECKING, Final

import ep
from ep_opencl.loader import LOADER

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["Waiter"]

_PATIENCE: Final = 5.0
_MILLISECOND: Final = 1e-3

# Not pyopencl's: a process that ends meanwhile ends this thread, which is `terminate` with C++ on its stack.
_finish: Final = LOADER.clFinish
_finish.argtypes = [c_void_p]


class Waiter:
    """A thread that waits in the driver, so that the host's may poll, and hear Ctrl-C."""

    def __init__(self, queue: cl.CommandQueue, name: str) -> None:
        self._queue = queue
        self._thread = ep.HostThread(name)
        self._waits: deque[None] = deque()  # one while the thread waits

    def begin(self) -> None:
        """Let the thread wait for all that the queue has, unless it does. Where no thread is to be had, none waits."""
        if not self._waits:
            self._waits.append(None)
            try:
                self._thread.do(functools.partial(_wait, self._queue, self._waits))
            except RuntimeError:
                self._waits.clear()

    def see_out(self) -> None:
        """Return once the thread does not wait, after 5 s in any case.

        Intel's runtime ends the process by SIGABRT if it is taken down around a thread that waits in it.
        """
        end = time.monotonic() + _PATIENCE
        while self._waits and time.monotonic() < end:
            time.sleep(_MILLISECOND)

    def close(self) -> None:
        """See the thread out, and end it."""
        self.see_out()
        self._thread.close()


def _wait(queue: cl.CommandQueue, waits: deque[None]) -> None:
    _finish(queue.int_ptr)  # of an error the host hears
    waits.clear()
