"""The parent's side of a worker: start it, talk to it, notice that it died or hangs, end it."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_conformance.tries import Batch
from ep_conformance.verdict import Outcome, Status
from ep_conformance.worker import ENDINGS, Job, serve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Worker", "ask", "listen"]

_CONTEXT: Final = multiprocessing.get_context("spawn")
_START_SECONDS: Final = 120.0
_LOG_TAIL: Final = 600
_FATAL: Final = "Fatal Python error"


class Worker:
    """One worker process with the cases it was given.

    waiting  : ids given to it and not yet begun
    current  : the id that it is running, None between cases
    ran      : the ids that it has begun, in order
    batch    : what it was given last
    """

    def __init__(self, job: Job) -> None:
        ours, theirs = _CONTEXT.Pipe()
        self.connection: Connection = ours
        self.process = _CONTEXT.Process(target=serve, args=(theirs, job), daemon=True)
        self.log: Path = job.log
        self._log_start = job.log.stat().st_size if job.log.exists() else 0
        self.waiting: deque[str] = deque()
        self.current: str | None = None
        self.ran: list[str] = []
        self.batch = Batch(())
        self.since = time.monotonic()
        # The child inherits the mask, so that Ctrl-C in a terminal never meets it half started.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def send(self, *message: object) -> None:
        """Send a message; a worker that is gone is noticed when its answer is waited for."""
        with contextlib.suppress(OSError):
            self.connection.send(message)

    def run(self, batch: Batch, memory: int | None = None) -> None:
        """Give it cases to run, in order; one that needs more bytes of memory than it may take is missing."""
        self.batch = batch
        self.waiting.extend(batch.ids)
        self.since = time.monotonic()
        self.send("run", [*batch.ids], memory)

    def receive(self) -> tuple[Any, ...] | None:
        """Return its next message, None if it died, and keep track of what it is doing."""
        try:
            message: tuple[Any, ...] = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.since = time.monotonic()
        if message[0] == "start":
            self.current = self.waiting.popleft()
            self.ran.append(self.current)
        elif message[0] == "done":
            self.current = None
        return message

    @property
    def is_busy(self) -> bool:
        """True while it has cases."""
        return self.current is not None or bool(self.waiting)

    def death(self) -> Outcome:
        """Return the outcome of the case that it died in."""
        self.process.join(timeout=5)
        code = self.process.exitcode
        how = f"exit code {code}"
        if code is not None and code < 0:
            how = f"signal {-code} ({signal.Signals(-code).name})"
        return Outcome(Status.CRASH, f"the process ended with {how}{self._last_words()}")

    def hang(self, limit: float) -> Outcome:
        """Return the outcome of the case that it hangs in."""
        return Outcome(Status.HANG, f"no verdict after {limit:g} s{self._last_words()}")

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.connection.close()
        self.process.kill()
        self.process.join()

    def dismiss(self) -> None:
        """Let an idle worker leave by itself, so that it closes its device; end it if it does not."""
        self.connection.close()
        self.process.join(timeout=10)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()

    def _last_words(self) -> str:
        with self.log.open("rb") as file:
            file.seek(max(self._log_start, self.log.stat().st_size - 10 * _LOG_TAIL))
            text = file.read().decode(errors="replace").strip()
        fatal = text.rfind(_FATAL)
        said = text[-_LOG_TAIL:] if fatal < 0 else text[fatal : fatal + _LOG_TAIL]
        return f"; it printed: {said}" if said else ""


def listen(workers: Sequence[Worker], timeout: float) -> list[Worker]:
    """Return the workers that have something to say, or died, within a time."""
    ready = set(wait([worker.connection for worker in workers], timeout))
    return [worker for worker in workers if worker.connection in ready]


def ask(worker: Worker, question: str) -> Any:
    """Return a worker's answer to "survey" or "probe".

    Raises UnavailableError if it cannot open the device, died or does not answer.
    """
    worker.send(question)
    if not listen([worker], _START_SECONDS):
        message = f"the worker process gave no answer to {question!r} in {_START_SECONDS:g} s"
        raise ep.UnavailableError(message)
    answer = worker.receive()
    if answer is None:
        first, *rest = worker.death().reason.splitlines()
        # The first line of a fatal error says what it was, of a Python traceback the last.
        is_said = _FATAL in first or not rest
        raise ep.UnavailableError(first if is_said else f"{first.partition(';')[0]}; it printed: {rest[-1]}")
    if answer[0] == "unavailable":
        raise ep.UnavailableError(answer[1])
    return answer[1]
