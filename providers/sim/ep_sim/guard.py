"""What EP_VALIDATE=1 adds: a stream that two threads of the host use at once is an error of the second."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_sim.stream import SimStream

__all__ = ["one_thread_at_a_time"]


def one_thread_at_a_time(stream: SimStream) -> Callable[..., Any]:
    """Return a door for a stream that lets one thread in at a time and refuses the others with a ValueError."""
    inside = threading.Lock()
    door = type(stream)._submit  # noqa: SLF001 - what passes here passes the one door of all work behind it

    def enter(what: Any, *rest: Any) -> Any:
        if not inside.acquire(blocking=False):
            message = (
                f"{what}: {stream.name} is in use by another thread; a stream is used by one thread at a time: "
                "give each thread a stream of its own, or let them take turns"
            )
            raise ValueError(message)
        try:
            time.sleep(0)  # so that whoever does not take turns is met here
            return door(stream, what, *rest)
        finally:
            inside.release()

    return enter
