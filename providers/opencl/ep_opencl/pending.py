"""Pending: the commands of one queue not yet seen done; they tell whether it is idle, and which command failed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, TypeAlias

import pyopencl as cl

from ep_opencl.errors import status_failure, status_of

if TYPE_CHECKING:
    import ep

__all__ = ["Pending"]

_BATCH: Final = 64
_COMPLETE: Final = cl.command_execution_status.COMPLETE


_Command: TypeAlias = "tuple[cl.Event, ep.spi.Ticket]"
"""One command, as its stream enqueued it: no class of its own, which would take a tenth of a launch to make."""


class Pending:
    """Commands in the order of their queue, oldest first; one thread adds at a time, any may ask."""

    def __init__(self) -> None:
        self._commands: list[_Command] = []
        self._failed: tuple[_Command, int] | None = None
        self._lock = threading.RLock()

    def add(self, event: cl.Event, ticket: ep.spi.Ticket) -> None:
        """Take note of a command, and forget old ones now and then."""
        commands = self._commands
        commands.append((event, ticket))
        if not len(commands) % _BATCH:
            self.sweep()

    def add_all(self, added: list[_Command]) -> None:
        """Take note of several commands at once."""
        self._commands += added
        if len(self._commands) >= _BATCH:
            self.sweep()

    def sweep(self) -> bool:
        """Forget finished commands, but for the first failure, and return True if any are left.

        They go by the batch: the queue is in order, so that all are done if the last of them is.
        """
        commands = self._commands
        while batch := commands[:_BATCH]:
            if status_of(batch[-1][0]) > _COMPLETE:
                return True
            failed = _failure_of(batch)
            count = len(batch)
            with self._lock:
                if commands and commands[0] is batch[0]:  # else another thread or a handler was here
                    if self._failed is None:
                        self._failed = failed
                    del commands[:count]
        return False

    def take_failure(self) -> ep.DeviceError | None:
        """Return the error of the first command that failed, with its place in its stream, once."""
        self.sweep()
        with self._lock:
            failed, self._failed = self._failed, None
        if failed is None:
            return None
        (_, ticket), status = failed
        error = status_failure(status)
        ticket.blame(error)
        return error


def _failure_of(batch: list[_Command]) -> tuple[_Command, int] | None:
    """Return the first of several finished commands that failed, and its status: one call of the driver's if none did."""
    try:
        cl.wait_for_events([event for event, _ in batch])
    except cl.Error:
        for command in batch:
            if (status := status_of(command[0])) < _COMPLETE:
                return command, status
    return None
