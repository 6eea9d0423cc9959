"""Pending: the commands of one queue not yet seen done; they tell whether it is idle, and which command failed."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

import pyopencl as cl
from ep.locks import drop, first

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
        self._commands: deque[_Command] = deque()
        self._failed: tuple[_Command, int] | None = None
        self._lock = threading.RLock()

    def add(self, event: cl.Event, ticket: ep.spi.Ticket) -> None:
        """Take note of a command, and forget old ones now and then."""
        commands = self._commands
        commands.append((event, ticket))
        if not len(commands) % _BATCH:
            self.sweep()

    def sweep(self) -> bool:
        """Forget finished commands, but for the first failure, and return True if any are left."""
        commands = self._commands
        while (command := first(commands)) is not None:
            status = status_of(command[0])
            if status > _COMPLETE:
                return True
            with self._lock:
                if status < _COMPLETE and self._failed is None and commands and commands[0] is command:
                    self._failed = command, status
            drop(commands, command)
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
