"""Host functions in a stream: the guard around them, what becomes of their exceptions, and the threads that call them."""

from __future__ import annotations

import os
import queue
import threading
from typing import TYPE_CHECKING, final

from ep.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.failure import Failure

__all__ = ["Callback", "HostThread", "check_outside"]


class _Here(threading.local):
    """What this thread is in the middle of."""

    is_calling = False

    def leave(self) -> None:
        self.is_calling = False


_HERE = _Here()

# A function may fork: its child is not inside of anything.
os.register_at_fork(after_in_child=_HERE.leave)


def check_outside(operation: str) -> None:
    """Raise ValueError inside a function that stream.call runs: the stream waits for it, so it must wait for nothing."""
    if _HERE.is_calling:
        message = (
            f"{operation}: not inside a function given to call, which may not use objects of EP; "
            "set a flag there and do this where the flag is read"
        )
        raise ValueError(message)


@final
class Callback:
    """A host function on its way through a stream: called once, under the guard; what it raises is the stream's error."""

    __slots__ = ("_failure", "_function", "_place")

    def __init__(self, function: Callable[[], object], failure: Failure, place: str) -> None:
        self._function = function
        self._failure = failure
        self._place = place

    def __call__(self) -> None:
        """Call the function."""
        _HERE.is_calling = True
        try:
            self._function()
        except KeyboardInterrupt:
            # Only where the stream is synchronous: the function runs in the thread that pressed Ctrl-C ends.
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            error.add_note(self._place)
            self._failure.keep(error)
        finally:
            _HERE.is_calling = False


@final
class HostThread(Uncopied):
    """A thread that does what it is given, in order: for providers whose streams wait for something on the host.

    It begins with the first and ends with close(). As a daemon it never keeps the process from ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def do(self, task: Callable[[], object]) -> None:
        """Let the thread do a task, which raises nothing, after those before it."""
        if self._thread is None:
            self._thread = threading.Thread(target=_do_all, args=(self._tasks,), name=self._name, daemon=True)
            self._thread.start()
        self._tasks.put(task)

    def close(self) -> None:
        """End the thread when it has done what it was given. Does not wait for that."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread = None


def _do_all(tasks: queue.SimpleQueue[Callable[[], object] | None]) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # while it waits for the next, the thread keeps nothing alive
