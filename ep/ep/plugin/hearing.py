"""Each plug-in is asked in a separate process with a time limit, so that one that hangs or crashes is only reported.

The answers of a process come through a pipe and are read as data: `ep.plugin.witness` documents the lines.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.plugin.account import Account

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Summons", "hear"]

_SLICE: Final = 0.05
_CHUNK: Final = 1 << 16
_PATIENCE: Final = 1.0
"""Seconds for a process that hangs to say where, and for one that was killed to be gone."""
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from ep.plugin.witness import main; sys.exit(main())"
)


class Summons(NamedTuple):
    """One plug-in to ask.

    group       : "ep.providers" or "ep.families"
    name        : the provider's, or the package's
    is_checked  : True: each of its devices copies some bytes
    """

    group: str
    name: str
    is_checked: bool = False


def hear(summonses: Sequence[Summons], seconds: float) -> list[Account]:
    """Return the account of each plug-in's process, in the order of the summonses. One process per core runs at a time.

    seconds : time limit of each process; one that takes longer is ended, with all processes that it started
    """
    waiting, heard = deque(enumerate(summonses)), {}
    running: list[tuple[int, _Process]] = []
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or running:
                while waiting and len(running) < (os.cpu_count() or 1):
                    place, summons = waiting.popleft()
                    process = _Process(summons, seconds)
                    running.append((place, process))
                    process.enter(selector)
                for key, _ in selector.select(_SLICE):
                    key.data.read(key.fd, selector)
                for place, process in [each for each in running if each[1].is_over]:
                    heard[place] = process.end(selector)
                    running.remove((place, process))
        finally:
            for _, process in running:
                process.kill()
    return [heard[place] for place in range(len(summonses))]


class _Process:
    """One process, the three pipes that it writes, and the fourth at whose end it ends."""

    def __init__(self, summons: Summons, seconds: float) -> None:
        self.account = Account(summons.name, seconds)
        self._deadline = time.monotonic() + seconds
        (answers, their_answers), (out, their_out), (err, their_err) = (os.pipe() for _ in range(3))
        their_leash, leash = os.pipe()
        paths = [path for path in sys.path if isinstance(path, str)]
        task = (their_answers, their_leash, seconds, *summons)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-u", "-P", "-c", _START, json.dumps(paths), json.dumps(task)],
                stdin=subprocess.DEVNULL,
                stdout=their_out,
                stderr=their_err,
                pass_fds=(their_answers, their_leash),
                start_new_session=True,
            )
        finally:
            for pipe in (their_answers, their_out, their_err, their_leash):
                os.close(pipe)
        said = self.account
        self._pipes = {answers: said.answers, out: said.stdout, err: said.stderr}
        self._open = set(self._pipes)
        self._held = [*self._pipes, leash]
        for pipe in self._pipes:
            os.set_blocking(pipe, False)

    def enter(self, selector: selectors.BaseSelector) -> None:
        """Let a selector watch the pipes."""
        for pipe in self._open:
            selector.register(pipe, selectors.EVENT_READ, self)

    def read(self, pipe: int, selector: selectors.BaseSelector) -> None:
        """Take what lies in a pipe; one that is at its end is watched no more."""
        content = os.read(pipe, _CHUNK)
        self._pipes[pipe].add(content)
        if not content:
            self._open.discard(pipe)
            selector.unregister(pipe)

    @property
    def is_over(self) -> bool:
        """True if the process has ended, has taken too long, or has said more than is read."""
        is_late = time.monotonic() > self._deadline
        return is_late or self.account.answers.is_overfull or self._process.poll() is not None

    def end(self, selector: selectors.BaseSelector) -> Account:
        """End the process if it has not ended, and return what it said."""
        for pipe in self._open:
            selector.unregister(pipe)
        code = self._process.poll()
        if code is None:
            self._process.send_signal(signal.SIGUSR1)  # it says where it stands
        else:
            self._kill_group()
        self._drain()
        self.account.conclude(code)
        self.kill()
        return self.account

    def kill(self) -> None:
        """End the process with all that it started and that is of its session, and close the pipes. Idempotent."""
        self._kill_group()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)  # a driver may hold it for ever
        while self._held:
            os.close(self._held.pop())

    def _kill_group(self) -> None:
        if not self._held:
            return  # its number may be another's by now
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _drain(self) -> None:
        """Take what comes until all pipes are at their end, for a moment at most."""
        until = time.monotonic() + _PATIENCE
        with selectors.DefaultSelector() as selector:
            self.enter(selector)
            while self._open and (left := until - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    self.read(key.fd, selector)
