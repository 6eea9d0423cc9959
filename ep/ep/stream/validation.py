"""Checks that EP_VALIDATE=1 adds to streams: one thread at a time, valid contents, the line that enqueued failed work.

It is a door of the streams, so that it costs nothing where it is off.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from ep.errors import DeviceError
from ep.ground.callback import check_outside
from ep.stream import doors
from ep.stream.inspection import inspect

if TYPE_CHECKING:
    from ep.memory.memory import Memory
    from ep.stream.doors import Onward
    from ep.stream.stream import Stream

__all__ = ["Origins", "is_on", "watch"]

_MOST_ORIGINS: Final = 10_000
_OURS: Final = str(Path(__file__).parents[1])


def is_on() -> bool:
    """Say whether the environment asks for validation."""
    return os.environ.get("EP_VALIDATE") == "1"


def watch(stream: Stream) -> None:
    """Let a stream refuse a second thread and invalid contents, and remember the line of each enqueue."""
    stream._origins = Origins()
    doors.put(stream, "validation", functools.partial(_validate, stream._origins, {}))


def _validate(  # noqa: PLR0913, PLR0917 - what a door is given, and what it keeps
    origins: Origins,
    inside: dict[str, int],
    onward: Onward,
    stream: Stream,
    what: Any,
    memories: tuple[Memory, ...],
    scalars: tuple[Any, ...],
    run: Any,
) -> Any:
    check_outside(str(what))
    me = threading.get_ident()
    is_outermost = "thread" not in inside  # else it is a handler that interrupted a verb
    if inside.setdefault("thread", me) != me:
        message = (
            f"{what}: {stream.name} is in use by another thread; a stream is used by one thread at a time: "
            "give each thread a stream of its own, or let them take turns"
        )
        raise ValueError(message)
    try:
        time.sleep(0)  # lets a second thread that does not take turns come in, and be noticed
        origins.add(stream._sequence + 1)
        if stream._capture is None:  # else its operands have no contents yet
            inspect(stream, onward, what, memories, scalars)
            origins.add(stream._sequence + 1)  # the downloads of inspected contents have taken numbers
        return onward(stream, what, memories, scalars, run)
    except DeviceError as error:
        origins.tell(error, stream.name)
        raise
    finally:
        if is_outermost:
            inside.pop("thread", None)


@final
class Origins:
    """File and line of the last enqueues of one stream, by their numbers."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[str, int]] = {}

    def add(self, sequence: int) -> None:
        """Note the line outside of EP from which the door was reached."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
            frame = frame.f_back
        self._places[sequence] = frame.f_code.co_filename, frame.f_lineno
        if len(self._places) > _MOST_ORIGINS:
            self._places.pop(next(iter(self._places)), None)

    def tell(self, error: BaseException | None, stream: str) -> None:
        """Add to a DeviceError of this stream where its work was enqueued."""
        if isinstance(error, DeviceError) and error.stream == stream and error.sequence in self._places:
            error.file, error.line = self._places[error.sequence]
