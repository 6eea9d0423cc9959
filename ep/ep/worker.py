"""A WorkerStream's door leaves the work to the thread of its provider's Worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep import verbs
from ep.stream import Stream

if TYPE_CHECKING:
    from ep.memory import Memory
    from ep.spi.worker import Worker
    from ep.submission import Run

__all__ = ["WorkerStream"]

_AT_ONCE: Final = frozenset({verbs.record, verbs.allocate, verbs.free})  # what the caller has when the verb returns


class WorkerStream(Stream):
    """An asynchronous stream whose work is done by a thread of EP."""

    twin: Worker

    # In place of the class's door and not, by _set_door, of the object's: that would be a stream that refers to itself.
    def _submit(  # type: ignore[misc]  # final for all others
        self, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Run
    ) -> Any:
        """Admit as the door does, and leave the run to the worker."""
        before = self._inside
        self._inside = what
        try:
            self._admit_all(what, memories)
        except BaseException:
            self._inside = before
            raise
        try:
            if run in _AT_ONCE:
                return run(self.twin, memories, scalars)
            return self.twin.place(what, run, memories, scalars)
        finally:
            if before is None:
                self._sequence += 1
            self._inside = before
