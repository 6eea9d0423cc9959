"""Waiter: a thread that waits in a driver, while the host's rests and hears Ctrl-C."""

from __future__ import annotations

import functools
import time
from collections import deque
from typing import TYPE_CHECKING, Final, final

from ep.ground.callback import HostThread
from ep.ground.uncopied import Uncopied
from ep.ground.waiting import sleep
from ep.locks import Bell

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Waiter"]

_LEAST: Final = 1e-4
_BESIDE: Final = 5e-3
_PATIENCE: Final = 5.0
_MILLISECOND: Final = 1e-3


@final
class Waiter(Uncopied):
    """A thread for the `pause` of streams and events whose driver can wait for them.

    A host that polls rests an eighth of the time already waited, and hears as late of the end; this thread hears of it at
    once, and wakes the host. It begins with the first rest that is worth it, and ends with close().

    least : seconds of a rest from which on the thread waits, too; shorter ones cost less than to wake it
    """

    def __init__(self, name: str, least: float = _LEAST) -> None:
        self._least = least
        self._thread = HostThread(name)
        self._bell = Bell()
        self._waits: deque[None] = deque()  # one while the thread waits

    def rest(self, seconds: float, wait: Callable[[], object]) -> None:
        """Let the host rest until `wait` has returned in the thread, `seconds` at most.

        wait : waits in the driver without the interpreter's lock; raises nothing, because the host asks by itself. Not
               called while the thread is in an earlier one, or where no thread is to be had
        """
        if seconds < self._least:
            sleep(seconds)
            return
        if self._waits:  # an earlier wait, which may end later than this one would
            seconds = min(seconds, _BESIDE)
        else:
            self._begin(wait)
        self._bell.rest(seconds)

    def _begin(self, wait: Callable[[], object]) -> None:
        is_placed = False
        try:
            self._waits.append(None)
            self._thread.do(functools.partial(_wait, wait, self._waits, self._bell))
            is_placed = True
        except RuntimeError:
            pass  # no thread is to be had
        finally:
            if not is_placed:  # after Ctrl-C, too: nobody would take the mark away
                self._waits.clear()

    def see_out(self) -> None:
        """Return once the thread does not wait, after 5 s in any case: some drivers fall if they end around one that does."""
        end = time.monotonic() + _PATIENCE
        while self._waits and time.monotonic() < end:
            time.sleep(_MILLISECOND)

    def close(self) -> None:
        """See the thread out, and end it."""
        self.see_out()
        self._thread.close()


def _wait(wait: Callable[[], object], waits: deque[None], bell: Bell) -> None:
    wait()
    waits.clear()
    bell.ring()
