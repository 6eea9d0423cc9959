"""A Failure is where a stream keeps what went wrong in its asynchronous work until somebody synchronises with it."""

from __future__ import annotations

import threading
from typing import final

__all__ = ["Failure"]


@final
class Failure:
    """The first error since the last synchronisation. Whoever does a stream's work holds this and not the stream."""

    __slots__ = ("_lock", "error")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.error: BaseException | None = None

    def keep(self, error: BaseException) -> None:
        """Keep an error unless there is one already. From any thread."""
        with self._lock:
            if self.error is None:
                self.error = error

    def take(self) -> BaseException | None:
        """Return the error and forget it."""
        with self._lock:
            error, self.error = self.error, None
        return error
