"""A Failure is where a stream keeps what went wrong in its asynchronous work until somebody synchronises with it."""

from __future__ import annotations

import threading
from typing import final

from ep.errors import DeviceLostError

__all__ = ["Failure"]


@final
class Failure:
    """The first error since the last synchronisation. Threads that do a stream's work hold this and not the stream.

    is_of_work : True if work of the device failed, after which no work is started; a host function's error stops none
    """

    __slots__ = ("_lock", "error", "is_of_work")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.error: BaseException | None = None
        self.is_of_work = False

    def keep(self, error: BaseException, *, is_of_work: bool = False) -> None:
        """Keep an error unless there is one already. From any thread."""
        with self._lock:
            if self.error is None:
                self.error = error
            if is_of_work:
                self.is_of_work = True

    def take(self) -> BaseException | None:
        """Return the error and forget it."""
        with self._lock:
            error, self.error, self.is_of_work = self.error, None, False
        return error

    def take_last(self) -> BaseException | None:
        """Return and forget the error that no synchronisation will raise; None if an idle stream's device was lost."""
        error = self.take()
        return None if isinstance(error, DeviceLostError) and error.op is None else error
