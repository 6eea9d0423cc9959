"""A Wire is what this process sends and receives over one communicator of MPI, for all of EP's communicators on it."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep_collectives.mpi.letter import ALIVE, CLOSE, FAIL, MEET, OUT, Letter

if TYPE_CHECKING:
    from ep_collectives.mpi.letter import Key

__all__ = ["Box", "Wire"]

_LETTERS: Final = 1
"""The tag of letters; data messages have those above it."""


_ENDED: Final = {"Z", "X"}
"""The states of a process of Linux that only waits to be forgotten."""


class Box:
    """The letters that have come for one communicator, whether this process has joined it or not yet.

    letters  : by collective and rank of the wire
    failures : what FAIL said, with who said it
    out      : who has said OUT
    closed   : who has said CLOSE
    alive    : when who last said ALIVE, of the monotonic clock
    awaited  : of how many CLOSE is the last that will come, None while this process has not said it
    """

    def __init__(self) -> None:
        self.letters: dict[Key, dict[int, Letter]] = {}
        self.failures: deque[tuple[int, bytes]] = deque()
        self.out: dict[int, None] = {}
        self.closed: dict[int, None] = {}
        self.alive: dict[int, float] = {}
        self.awaited: int | None = None

    @property
    def is_over(self) -> bool:
        """True if no letter will come, and nobody here asks for any."""
        return self.awaited is not None and len(self.closed) >= self.awaited

    def put(self, source: int, letter: Letter) -> None:
        """File a letter."""
        if letter.kind == MEET:
            self.letters.setdefault(letter.key, {})[source] = letter
        elif letter.kind == FAIL:
            self.failures.append((source, bytes(letter.payload)))
        elif letter.kind == OUT:
            self.out[source] = None
        elif letter.kind == CLOSE:
            self.closed[source] = None
        elif letter.kind == ALIVE:
            self.alive[source] = time.monotonic()


class Wire:
    """Messages of one communicator of MPI, which it duplicates: all of its ranks make their wire together.

    Threads call it at once. Letters are sorted by one of them at a time, the others go on without.

    communicators : those of this process that are open
    """

    def __init__(self, mpi: Any, comm: Any) -> None:
        self.mpi = mpi
        self.comm = comm.Dup()
        self.rank: int = self.comm.rank
        self.size: int = self.comm.size
        self.communicators: weakref.WeakSet[Any] = weakref.WeakSet()
        self.has_lost = False
        self._processes: list[tuple[str, int]] = self.comm.allgather(_process())
        self._top: int = self.comm.Get_attr(mpi.TAG_UB)
        self._tags = _LETTERS + 1
        self._boxes: dict[bytes, Box] = {}
        self._sent: deque[tuple[Any, Any]] = deque()
        self._abandoned: list[Any] = []
        self._counting = threading.Lock()
        self._sorting = threading.RLock()  # of one thread at a time; a handler that comes in meanwhile sorts, too
        self._groups = itertools.count()

    def group_number(self) -> int:
        """Return how many groups were made of it before."""
        return next(self._groups)

    def box(self, address: bytes) -> Box:
        """Return the box of a communicator."""
        return self._boxes.get(address) or self._boxes.setdefault(address, Box())

    def drop(self, address: bytes) -> None:
        """Forget a box to which no letter will come."""
        self._boxes.pop(address, None)

    def post(self, rank: int, text: bytes) -> Any:
        """Begin to send a letter, and return the request; the caller keeps the text until it is done."""
        return self.comm.Isend([text, self.mpi.BYTE], rank, _LETTERS)

    def notify(self, rank: int, text: bytes) -> None:
        """Send a letter that nobody waits for."""
        if self.is_open:
            self.adopt(self.post(rank, text), text)

    def adopt(self, request: Any, text: bytes) -> None:
        """Keep a letter that is under way until it has gone."""
        self._sent.append((request, text))

    @property
    def is_open(self) -> bool:
        """True until MPI is finalised."""
        return not self.mpi.Is_finalized()

    def tags(self, count: int) -> int:
        """Return the first of so many tags, which no message under way has."""
        with self._counting:
            first = self._tags
            if first + count > self._top:
                first = _LETTERS + 1
            self._tags = first + count
        return first

    def pump(self) -> bool:
        """Sort the letters that have come, and say whether any has. Does not wait."""
        mpi = self.mpi
        if mpi.Is_finalized() or not self._sorting.acquire(blocking=False):
            return False
        try:
            has_come, status = False, mpi.Status()
            while (message := self.comm.Improbe(mpi.ANY_SOURCE, _LETTERS, status)) is not None:
                text = bytearray(status.Get_count(mpi.BYTE))
                message.Recv([text, mpi.BYTE])
                self._sort(status.Get_source(), Letter.unpack(text))
                has_come = True
            while self._sent and self._sent[0][0].Test():
                self._sent.popleft()
        finally:
            self._sorting.release()
        return has_come

    def _sort(self, source: int, letter: Letter) -> None:
        box = self.box(letter.address)
        box.put(source, letter)
        if box.is_over:
            self.drop(letter.address)

    def is_gone(self, rank: int) -> bool:
        """Say whether the process of a rank has ended, as far as this machine can tell."""
        host, process = self._processes[rank]
        if host != self._processes[self.rank][0]:
            return False
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return Path("/proc/self/stat").exists()
        except (OSError, IndexError):
            return False
        return state in _ENDED

    def keep(self, pending: list[Any]) -> None:
        """Keep buffers that a message may yet touch, for as long as the process lives."""
        self._abandoned += pending

    @property
    def has_unsent(self) -> bool:
        """True while a notice is under way."""
        return bool(self._sent)


def _process() -> tuple[str, int]:
    """Return the machine, as far as processes see one another there, and this process."""
    try:
        space = (
            f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/pid').stat().st_ino}"
        )
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}", os.getpid()
