"""Locks of the process, which a forked child must find free whoever held them in the parent."""

from __future__ import annotations

import os
import threading

__all__ = ["ForkLock"]


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
