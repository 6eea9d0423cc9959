"""A Gate holds back the commands of a queue until the host has done a task in their place."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pyopencl as cl

from ep_opencl.errors import failure

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Gate"]


class Gate:
    """A user event, and the marker in front of it.

    native : the event that later commands wait for
    """

    def __init__(self, queue: cl.CommandQueue) -> None:
        try:
            self._before = cl.enqueue_marker(queue)
            self.native = cl.UserEvent(queue.context)
        except cl.Error as error:
            raise failure(error) from error

    def do(self, task: Callable[[], object], fail: Callable[[BaseException], None]) -> None:
        """Wait for the commands before, do the task, and let the queue go on, even if the task fails.

        For a thread of its own: it blocks in the driver, where Ctrl-C does not reach.
        """
        with contextlib.suppress(cl.Error):  # the stream knows of an earlier failure; the task's turn has come
            self._before.wait()
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            fail(error)
        finally:
            self.open()

    def open(self, status: int = cl.command_execution_status.COMPLETE) -> None:
        """Let the queue go on; a negative status says that its commands are not to be done. Once: the first stands."""
        with contextlib.suppress(cl.Error):
            self.native.set_status(status)
