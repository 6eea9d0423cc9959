"""Ctrl-C and the like, put off for as long as a process starts or ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["ENDINGS", "undisturbed"]

ENDINGS: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that end a run: all of them as Ctrl-C does."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put off the signals that end a run until the block has ended. A process that is started in it blocks them.

    The mask is this thread's alone: one of a library's threads may take the signal, and Python then calls the handler here.
    The mask is as before when the first handler can raise again.
    """
    pause = _Pause()
    with contextlib.ExitStack() as ends:
        ends.callback(pause.end)
        ends.callback(signal.pthread_sigmask, signal.SIG_SETMASK, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        if threading.current_thread() is threading.main_thread():
            pause.begin()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        yield


class _Pause:
    """A handler that keeps signals until the pause is over, and is the one before from then on, wherever it was left."""

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._kept: list[int] = []
        self._is_over = False

    def begin(self) -> None:
        for ending in ENDINGS:
            handler = signal.getsignal(ending)
            if callable(handler):
                self._before[ending] = handler
                signal.signal(ending, self._hear)

    def end(self) -> None:
        self._is_over = True
        for ending, handler in self._before.items():
            signal.signal(ending, handler)
        for number in self._kept:
            signal.raise_signal(number)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            self._before[number](number, frame)
        else:
            self._kept.append(number)
