"""The parent's side of a worker: start it, talk to it, notice that it died or hangs, end it."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import socket
import tempfile
import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.survey import survey_of
from ep_conformance.run.channel import Channel
from ep_conformance.run.interrupts import undisturbed
from ep_conformance.run.record import outcome_of
from ep_conformance.run.tries import Batch
from ep_conformance.run.worker import Job, serve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Worker", "Workplace", "ask", "await_answer", "listen"]

_CONTEXT: Final = multiprocessing.get_context("spawn")
_START_SECONDS: Final = 120.0
_LOG_TAIL: Final = 600
_STRAY: Final = 80
_FATAL: Final = "Fatal Python error"
_SEND_SECONDS: Final = 30.0
_LEAVE_SECONDS: Final = 10.0
_DIE_SECONDS: Final = 2.0
"""From the end of a process's descriptors to its own: its memory, however large, goes before them."""

_TICK: Final = 0.25
_PAUSE: Final = 0.005

_ANSWERS: Final = {
    "survey": ("survey", "unavailable"),
    "probe": ("probed", "unavailable"),
    "run": ("start", "done"),
    "gather": ("gathered",),
    "replay": ("replayed",),
}
"""The legal answers of a worker to each message; other messages come from a provider."""


class Worker:
    """One worker process with the cases it was given.

    waiting  : ids given to it and not yet begun
    current  : the id that it is running, None between cases
    ran      : the ids that it has begun, in order
    batch    : the last batch that it was given
    """

    def __init__(self, job: Job) -> None:
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.process = _CONTEXT.Process(target=serve, args=(theirs, job), daemon=True)
        self.log: Path = job.log
        self._log_start = job.log.stat().st_size if job.log.exists() else 0
        self.waiting: deque[str] = deque()
        self.current: str | None = None
        self.ran: list[str] = []
        self.batch = Batch(())
        self.since = time.monotonic()
        self._answers: tuple[str, ...] = ()
        self._stray = ""
        try:
            with theirs, undisturbed():
                self.process.start()
        except BaseException:  # Ctrl-C meanwhile: nobody else knows of the process
            if self.process.pid is not None:
                self.end()
            raise

    def send(self, *message: Any) -> None:
        """Send a message; a worker that is gone is noticed when its answer is waited for."""
        self._answers = _ANSWERS[message[0]]
        with contextlib.suppress(OSError):
            self.channel.send([*message], _SEND_SECONDS)

    def run(self, batch: Batch, memory: int | None = None) -> None:
        """Give it cases to run, in order; one that needs more bytes of memory than it may take is missing."""
        self.batch = batch
        self.waiting.extend(batch.ids)
        self.since = time.monotonic()
        self.send("run", [*batch.ids], memory)

    def receive(self) -> list[Any] | None:
        """Return its next message, and note what it is doing; None if it died or wrote something else.

        Only its cases in their order move `since`: nothing that a provider writes puts off the end of a case that hangs.
        """
        given = self.channel.take()
        if given is None:
            return None
        message = self._read(given) if given[0] in self._answers else None
        if message is None:
            self._stray = str(given)[:_STRAY]
        elif message[0] == "start":
            self.current = self.waiting.popleft()
            self.ran.append(self.current)
            self.since = time.monotonic()
        elif message[0] == "done":
            self.current = None
            self.since = time.monotonic()
        return message

    def _read(self, given: list[Any]) -> list[Any] | None:
        """Return a message with what its tables stand for, None for one that a worker does not send."""
        try:
            match given:
                case ["start", str(identity)] if self.waiting and identity == self.waiting[0]:
                    return given
                case ["done", str(identity), dict(outcome), int(memory)] if identity == self.current:
                    return ["done", identity, outcome_of(outcome), memory]
                case ["survey", dict(found)]:
                    return ["survey", survey_of(found)]
                case ["replayed", dict(outcome), str(note)]:
                    return ["replayed", outcome_of(outcome), note]
                case ["probed" | "unavailable", str()] | ["gathered", dict()]:
                    return given
        except (LookupError, TypeError, ValueError, AttributeError):
            return None
        return None

    @property
    def has_news(self) -> bool:
        """True if it has something to say, or never will; children of its own may keep the pipe of a dead one open."""
        if not (self.channel.is_ready or self.process.is_alive()):
            self.channel.fill()
            return True
        return self.channel.is_ready

    @property
    def is_busy(self) -> bool:
        """True while it has cases."""
        return self.current is not None or bool(self.waiting)

    def death(self) -> Outcome:
        """Return the outcome of the case that it died in, or wrote something else than a message in."""
        return Outcome(Status.CRASH, f"{self._fate()}{self._last_words()}")

    def hang(self, limit: float) -> Outcome:
        """Return the outcome of the case that it hangs in."""
        count = self.channel.waiting
        part = f"; {count} bytes of a message that does not end lie in the worker's pipe" if count else ""
        return Outcome(Status.HANG, f"no verdict after {limit:g} s{part}{self._last_words()}")

    def end(self) -> None:
        """End the process, even in the middle of a case."""
        with undisturbed():
            self.channel.close()
            self.process.kill()
            self.process.join()

    def dismiss(self) -> None:
        """Let an idle worker leave by itself, so that it closes its device; end it if it does not."""
        self.channel.close()
        self._ends_within(_LEAVE_SECONDS)
        self.process.kill()
        self.process.join()

    def _fate(self) -> str:
        """Return how it came that it says nothing more."""
        if self._stray:
            return f"the provider wrote a message of the worker's into the worker's pipe: {self._stray}"
        if self.channel.junk:
            return f"the provider wrote {self.channel.junk} into the worker's pipe"
        if not self._ends_within(_DIE_SECONDS):
            return "the provider closed the worker's pipe, while the process went on"
        code = self.process.exitcode
        if code is not None and code < 0:
            name = next((each.name for each in signal.Signals if each == -code), "of the real-time ones")
            return f"the process ended with signal {-code} ({name})"
        return f"the process ended with exit code {code}"

    def _ends_within(self, seconds: float) -> bool:
        """Wait for its end, True if it comes. `Process.join` waits for a pipe, which a provider may have closed, and then for ever."""
        last = time.monotonic() + seconds
        while self.process.is_alive():
            if time.monotonic() > last:
                return False
            time.sleep(_PAUSE)
        return True

    def _last_words(self) -> str:
        with self.log.open("rb") as file:
            file.seek(max(self._log_start, self.log.stat().st_size - 10 * _LOG_TAIL))
            text = file.read().decode(errors="replace").strip()
        fatal = text.rfind(_FATAL)
        said = text[-_LOG_TAIL:] if fatal < 0 else text[fatal : fatal + _LOG_TAIL]
        return f"; it printed: {said}" if said else ""


class Workplace(tempfile.TemporaryDirectory[str]):
    """A new folder for the files of workers, which Ctrl-C does not leave half removed.

    A worker that is killed as the folder goes may write into it until it ends: then it stays, which is no error.
    """

    def __init__(self) -> None:
        super().__init__(prefix="ep-conformance-", ignore_cleanup_errors=True)

    def cleanup(self) -> None:
        """Remove the folder."""
        with undisturbed():
            super().cleanup()


def listen(workers: Sequence[Worker], timeout: float) -> list[Worker]:
    """Return the workers that have something to say, or died, within a time; it may be none before, too."""
    ready = [worker for worker in workers if worker.has_news]
    if ready:
        return ready
    wait([worker.channel.fileno() for worker in workers], timeout)
    for worker in workers:
        worker.channel.fill()
    return [worker for worker in workers if worker.has_news]


def await_answer(worker: Worker, seconds: float, limit: float) -> list[Any] | None:
    """Return the answer of a worker, None if it died.

    seconds : until it comes
    limit   : seconds until it is whole, once it has begun

    Raises TimeoutError, with a sentence, for whichever passes first.
    """
    last = time.monotonic() + seconds
    while not listen([worker], _TICK):
        now, begun = time.monotonic(), worker.channel.begun
        if begun is not None and now > begun + limit:
            message = f"began an answer and did not end it in {limit:g} s"
            raise TimeoutError(message)
        if now > last:
            message = f"gave no answer in {seconds:g} s"
            raise TimeoutError(message)
    return worker.receive()


def ask(worker: Worker, question: str, limit: float) -> Any:
    """Return a worker's answer to "survey", a Survey, or to "probe", "" if the device moves bytes.

    limit : seconds until the answer is whole, once it has begun; before, the device may take two minutes to open

    Raises UnavailableError if it cannot open the device, died or does not answer.
    """
    worker.send(question)
    try:
        answer = await_answer(worker, _START_SECONDS, limit)
    except TimeoutError as error:
        message = f"the worker process, asked for a {question}, {error}"
        raise ep.UnavailableError(message) from None
    if answer is None:
        first, *rest = worker.death().reason.splitlines()
        # The first line of a fatal error says what it was, of a Python traceback the last.
        is_said = _FATAL in first or not rest
        raise ep.UnavailableError(first if is_said else f"{first.partition(';')[0]}; it printed: {rest[-1]}")
    if answer[0] == "unavailable":
        raise ep.UnavailableError(answer[1])
    return answer[1]
