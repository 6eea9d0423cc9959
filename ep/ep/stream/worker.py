"""The door of a stream whose provider is a Worker: the work is left to its thread."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from ep.stream import verbs

if TYPE_CHECKING:
    from ep.memory.memory import Memory
    from ep.spi.worker import Worker
    from ep.stream.doors import Onward
    from ep.stream.stream import Stream

__all__ = ["leave"]

_AT_ONCE: Final = frozenset({verbs.record, verbs.allocate, verbs.free})  # their result is the caller's at once


def leave(  # noqa: PLR0913, PLR0917 - what a door is given
    onward: Onward, stream: Stream, what: Any, memories: tuple[Memory, ...], scalars: tuple[Any, ...], run: Any
) -> Any:
    """Enqueue, in place of a run, that the worker is to do it."""
    if run not in _AT_ONCE:
        run = functools.partial(_place, what, run)
    return onward(stream, what, memories, scalars, run)


def _place(what: Any, run: Any, twin: Worker, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
    numbered = getattr(
        run, "numbered", None
    )  # of a collective, which counts where it is enqueued: see spi.Communicator
    twin.place(what, run if numbered is None else numbered(twin), memories, scalars)
