"""How the host waits: it polls, in growing slices of at most 50 ms, so that timeouts and Ctrl-C work everywhere."""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ep.errors import TimeoutError  # noqa: A004 - ours is the builtin, too
from ep.ground.callback import check_outside
from ep.ground.glimpse import glimpse

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Deadline", "check_timeout", "sleep", "wait_until"]

_SPIN_SECONDS: Final = 50e-6
_FIRST_SLICE: Final = 20e-6
_LONGEST_SLICE: Final = 0.05
_SHORT_SECONDS: Final = 1e-3
"""Of a wait that is over before anybody could wake the host."""


def check_timeout(timeout: float | None, operation: str) -> None:
    """Raise ValueError unless `timeout` is None, infinite or a number of seconds that the clock can count."""
    if timeout is None:
        return
    seconds = math.nan
    if issubclass(type(timeout), int | float):
        with suppress(Exception):  # an integer of more than 308 digits, or a subclass that raises
            seconds = float(timeout)
    if not (0 <= seconds <= threading.TIMEOUT_MAX or seconds == math.inf):
        message = (
            f"{operation}: timeout {glimpse(timeout)} is not a number of seconds from 0 to "
            f"{threading.TIMEOUT_MAX:.0f}; give one, or None to wait forever"
        )
        raise ValueError(message)


class Deadline:
    """One timeout for several waits in turn: `left()` is the rest of it in seconds, None for ever."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        """Return the seconds that remain, at least 0."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


def sleep(seconds: float) -> None:
    """Rest for that long, even if the wait could end earlier."""
    time.sleep(seconds)


def wait_until(
    is_done: Callable[[], bool],
    timeout: float | None,
    operation: str,
    pause: Callable[[float], object],
    *,
    wakes: bool = False,
) -> None:
    """Return once `is_done()` is true.

    timeout : seconds, None for ever
    pause   : rests for at most the seconds that it is given; `sleep` by default
    wakes   : True if it ends as soon as that may be true

    Slices grow with the time already waited, an eighth of it, so that the wait costs little and ends soon after; of a
    pause that wakes the host they are long, because each look takes time from what is waited for.
    Raises TimeoutError naming `operation`, ValueError inside a function given to stream.call.
    """
    check_outside(operation)
    check_timeout(timeout, operation)
    begin = time.monotonic()
    while not is_done():
        waited = time.monotonic() - begin
        if timeout is not None and waited >= timeout:
            message = f"{operation}: not done after {timeout} s; it goes on, and may be waited for again"
            raise TimeoutError(message)
        if waited > _SPIN_SECONDS:
            is_long = wakes and waited > _SHORT_SECONDS
            rest = _LONGEST_SLICE if is_long else min(max(_FIRST_SLICE, waited / 8), _LONGEST_SLICE)
            pause(rest if timeout is None else min(rest, max(0.0, timeout - waited)))
