"""Let a worker end with its parent, even one that hangs in a vendor's library and reads no connection."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from typing import Final

__all__ = ["end_with_parent"]

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def end_with_parent() -> None:
    """Let this process, which multiprocessing started, be killed when its parent ends.

    By the kernel where it offers that, which holds for a library that keeps the interpreter's lock, too; else by a thread.
    """
    if not (sys.platform == "linux" and _by_kernel()):
        threading.Thread(target=end_after_parent, name="ep-conformance parent watch", daemon=True).start()


def end_after_parent() -> None:
    """Wait until the parent has ended, then end this process at once."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


def _by_kernel() -> bool:
    parent = multiprocessing.parent_process()
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0):
        return False
    if parent is not None and os.getppid() != parent.pid:  # it ended before we asked
        os._exit(1)
    return True
