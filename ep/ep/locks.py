"""Locks of EP, and the one rule about them: **under a lock stands no call**.

CPython runs a signal handler, or switches threads, in three places only: after a call, where a function begins, and at
the end of a loop's turn, after its condition was tested (the "eval breaker" of 3.11 to 3.14). Finalizers run where the
last reference goes and where the collector runs: in those three places and, up to 3.11, where a container is made. A
handler may use EP, wait for streams, or raise.

So EP changes shared state in a few assignments under a lock, with neither call nor loop between them. No thread sees
half of a change, an exception of Ctrl-C leaves all of it or nothing, and no handler runs while its own thread holds a
lock that a worker needs. A change that is one call of a built-in container needs no lock.

Work that has to call other code (a drain, compiling, closing) holds no lock: a handler or thread that comes in
meanwhile either skips it or does it once more. `test_reentry.py` interrupts every verb at each of these places, and
`test_house.py` looks for calls under locks.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections import deque

__all__ = ["Bell", "ForkLock", "Latch", "drop", "first"]


Entry = TypeVar("Entry")

_DROPPING: Final = threading.RLock()


def first(entries: deque[Entry]) -> Entry | None:
    """Return the first entry of a deque that other threads may empty meanwhile, None if there is none."""
    try:
        return entries[0]
    except IndexError:
        return None


def drop(entries: deque[Entry], entry: Entry) -> bool:
    """Remove an entry if it is still the first, and say whether it was: else another thread or a handler removed it."""
    with _DROPPING:
        is_first = False
        if entries and entries[0] is entry:
            is_first = True
            del entries[0]
    return is_first


class ForkLock:
    """A reentrant lock for `with`, renewed in a forked child.

    lock : the one of this process; `with lock.lock` is what `with lock` is, in a quarter of the time
    """

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class Latch:
    """Threads rest at it until another opens it. threading.Event would hold a lock of Python's while handlers run."""

    __slots__ = ("_lock", "is_open")

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let all threads pass from now on. Called once."""
        self.is_open = True
        self._lock.release()

    def rest(self, seconds: float) -> None:
        """Return when the latch is open, or after some time; of several threads that rest here one may rest longer."""
        if not self.is_open and self._lock.acquire(timeout=seconds):
            self._lock.release()


class Bell:
    """A thread rests at it until another rings, any number of times. A ring without a sleeper is kept for the next."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        """Wake one thread that rests, or the next one that would."""
        with suppress(RuntimeError):  # it was rung already, and nobody has heard it yet
            self._lock.release()

    def rest(self, seconds: float) -> None:
        """Return when the bell rings, or after some time."""
        self._lock.acquire(timeout=seconds)
