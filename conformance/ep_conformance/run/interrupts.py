"""Ctrl-C and the like, put off for as long as a process starts or ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ENDINGS", "undisturbed"]

ENDINGS: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that end a run: all of them as Ctrl-C does."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put off the signals that end a run until the block has ended. A process that is started in it blocks them.

    The mask is this thread's alone: one of a library's threads may take the signal, and Python then calls the handler here.
    """
    heard: list[int] = []
    handlers: dict[signal.Signals, Any] = {}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        if threading.current_thread() is threading.main_thread():
            known = {ending: signal.getsignal(ending) for ending in ENDINGS}
            handlers = {ending: handler for ending, handler in known.items() if callable(handler)}
        for ending in handlers:
            signal.signal(ending, lambda number, _: heard.append(number))
        yield
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)
        for number in heard:
            signal.raise_signal(number)  # it waits for the mask, as those do that came to this thread
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
