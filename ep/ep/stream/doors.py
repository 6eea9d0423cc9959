"""Doors stand in a fixed order before the function that runs a stream's work; each may pass, record or refuse work.

A stream without doors has nothing in its way: `stream._submit` is its class's function. With some, one function that
passes the work through all of them stands there as an attribute of the object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, NoReturn, TypeAlias, cast
from weakref import ref

from ep.errors import ClosedError
from ep.memory.segment import OWNERSHIP

if TYPE_CHECKING:
    from ep.stream.stream import Stream

__all__ = ["NONE", "RANKS", "Door", "Onward", "Rank", "put", "refuse_closed", "refuse_fork", "remove"]

Onward: TypeAlias = Callable[["Stream", Any, Any, Any, Any], Any]
"""The next door or the stream's own function: `onward(stream, what, memories, scalars, run)`."""

Door: TypeAlias = Callable[Concatenate[Onward, ...], Any]
"""Called as `door(onward, stream, what, memories, scalars, run)`. A door does not keep its stream alive."""

Rank: TypeAlias = Literal["fork", "close", "validation", "capture", "profile", "fault", "worker"]

RANKS: Final[tuple[Rank, ...]] = ("fork", "close", "validation", "capture", "profile", "fault", "worker")
"""The ranks of doors, outermost first; a stream has at most one door of each rank.

fork        : refuses in a forked child
close       : refuses once the stream is closed
validation  : checks of EP_VALIDATE=1; it sees captured launches, too
capture     : records work and passes none on
profile     : sees each enqueue and its number
fault       : fails on request, for tests of a provider
worker      : leaves the work to a thread
"""

NONE: Final[tuple[Door | None, ...]] = (None,) * len(RANKS)


def put(stream: Stream, rank: Rank, door: Door | None) -> None:
    """Put a door before a stream, in place of one of its rank. Callable in any thread and in signal handlers."""
    place = RANKS.index(rank)
    is_done = False
    while not is_done:  # else another thread or a handler has changed the doors meanwhile
        # Both are dropped after the lock is released, because finalizers of the objects that they hold may run.
        before, _passage = stream._doors, stream._submit
        after = (*before[:place], door, *before[place + 1 :])
        composed, is_open = _composed(stream, after), not any(before)
        # By attribute: reading the __dict__ of a CPython 3.11 object makes all of its attributes slower for good, which
        # took a bound launch on the CPU from 0.22 to 0.32 us.
        with OWNERSHIP.lock:
            if stream._doors is before:
                stream._doors, is_done = after, True
                if composed is not None:
                    stream._submit = composed  # type: ignore[method-assign, misc]  # final for all others
                elif not is_open:
                    del stream._submit


def remove(stream: Stream, rank: Rank) -> None:
    """Take the door of a rank away, if there is one. Callable in any thread and in signal handlers."""
    put(stream, rank, None)


def _composed(stream: Stream, doors: tuple[Door | None, ...]) -> Callable[..., Any] | None:
    """Return the function that passes work through all doors, None without doors. It does not keep the stream alive."""
    if not any(doors):
        return None
    onward = cast("Onward", type(stream)._submit)
    for door in reversed(doors):
        if door is not None:
            onward = functools.partial(door, onward)
    myself = ref(stream)

    def enter(what: Any, memories: Any, scalars: Any, run: Any) -> Any:
        return onward(myself(), what, memories, scalars, run)  # type: ignore[arg-type]  # who calls this has the stream

    return enter


def refuse_closed(_: Onward | None, stream: Stream, what: Any, *__: Any) -> NoReturn:
    """Be the door of a stream that was closed."""
    message = f"{what}: {stream.name} was closed; make another with {stream.device.name}'s device.stream()"
    raise ClosedError(message)


def refuse_fork(_: Onward, stream: Stream, what: Any, *__: Any) -> None:
    """Be the door of a stream of before a fork, in the child."""
    stream.device._check_fork(str(what))
