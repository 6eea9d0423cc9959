"""Waits in the driver, for threads that do nothing else.

Not pyopencl's: a process that ends meanwhile ends such a thread, which is `terminate` with C++ on its stack.
"""

from __future__ import annotations

from ctypes import byref, c_uint, c_void_p
from typing import TYPE_CHECKING, Final

from ep_opencl.loader import LOADER

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["wait_for_event", "wait_for_queue"]

_finish: Final = LOADER.clFinish
_finish.argtypes = [c_void_p]
_wait_for_events: Final = LOADER.clWaitForEvents
_wait_for_events.argtypes = [c_uint, c_void_p]


def wait_for_queue(queue: cl.CommandQueue) -> None:
    """Return when the queue is done; of an error the host hears."""
    _finish(queue.int_ptr)


def wait_for_event(event: cl.Event) -> None:
    """Return when the event has happened, or has failed."""
    _wait_for_events(1, byref(c_void_p(event.int_ptr)))
