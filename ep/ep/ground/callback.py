"""Host functions in a stream: the guard around them, what becomes of their exceptions, and the threads that call them."""

from __future__ import annotations

import os
import queue
import threading
from typing import TYPE_CHECKING, final

from ep.ground.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.ground.failure import Failure

__all__ = ["Callback", "HostThread", "check_may_wait", "check_outside", "is_working", "work_here"]


class _Here(threading.local):
    """Whether this thread is inside a function given to `call`, and whether it does the work of streams."""

    is_calling = False
    is_working = False

    def leave(self) -> None:
        self.is_calling = self.is_working = False


_HERE = _Here()

# A function may fork: the child process is not inside the function.
os.register_at_fork(after_in_child=_HERE.leave)


def check_outside(operation: str) -> None:
    """Raise ValueError inside a function that stream.call runs: the stream waits for it, so it must wait for nothing."""
    if _HERE.is_calling:
        message = (
            f"{operation}: not inside a function given to call, which may not use objects of EP; "
            "set a flag there and do this where the flag is read"
        )
        raise ValueError(message)


def work_here() -> None:
    """Declare that this thread does the work of streams, so that no finalizer that runs on it may wait for streams.

    For a provider whose own threads run work or callbacks of its streams: the first thing that each of them does. Verbs that
    would wait raise ValueError there from then on, where they would wait for the very thread that they run on.
    """
    _HERE.is_working = True


def is_working() -> bool:
    """Say whether this thread does the work of streams."""
    return _HERE.is_working


def check_may_wait(operation: str) -> None:
    """Raise ValueError on a thread that does the work of streams: a finalizer that waits there may wait for that thread."""
    check_outside(operation)
    if _HERE.is_working:
        message = (
            f"{operation}: a finalizer called this on a thread of EP that does the work of streams, and would wait for "
            "that thread itself; let the finalizer only note the task, and do the task in a thread of the program"
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
        except BaseException as error:
            # Where the stream is synchronous the function may run in the thread that Ctrl-C is to end.
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise
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
            thread = threading.Thread(target=_do_all, args=(self._tasks,), name=self._name, daemon=True)
            if self._thread is None:  # else a handler came in, and has begun one
                self._thread = thread
                try:
                    thread.start()
                except BaseException:
                    self._thread = thread if thread.is_alive() else None
                    raise
        self._tasks.put(task)

    def close(self) -> None:
        """End the thread when it has done what it was given. Does not wait for that."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread = None


def _do_all(tasks: queue.SimpleQueue[Callable[[], object] | None]) -> None:
    work_here()
    while (task := tasks.get()) is not None:
        task()
        del task  # while it waits for the next, the thread keeps nothing alive
