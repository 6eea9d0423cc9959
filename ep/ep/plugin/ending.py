"""The end of the process: streams are waited for and closed, then memories, then devices."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Final

from ep.errors import TimeoutError  # noqa: A004 - ours is the builtin, too
from ep.ground.waiting import Deadline
from ep.ground.words import said

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["end"]

_SECONDS: Final = 60.0


def end(devices: Sequence[Device]) -> None:
    """Wait for all work, at most EP_EXIT_SECONDS (default 60), and close everything, streams first.

    Work that ends neither in that time nor before Ctrl-C is left alone: memory that it may touch is not freed, and the
    process ends with a warning. A failure that no synchronisation reported is a warning, too. The exit code is
    unchanged.
    """
    streams = [stream for device in devices for stream in device._unfinished()]
    streams.sort(key=lambda stream: stream._kept is None)  # one over a queue of others before the owner of that queue
    stuck = _close(streams)
    for stream in stuck:
        stream.twin.abandon()
    if not stuck:
        for device in devices:
            _try(device, device._close_memories)
        for device in devices:
            _try(device, device._shut)
    else:
        names = ", ".join(stream.name for stream in stuck)
        message = f"the process ends although work of {names} is under way; EP_EXIT_SECONDS says how long EP waits"
        warnings.warn(message, RuntimeWarning, stacklevel=1)
    for stream in streams:
        stream._warn()


def _try(device: Device, close: Callable[[], None]) -> None:
    """Close a part of a device. An exception of the provider's code becomes a warning; the other devices are closed."""
    try:
        close()
    except BaseException as error:  # noqa: BLE001 - a stranger's code, and Ctrl-C, which ends the process anyway
        message = f"{device.name} could not be closed at the end of the process: {said(error)}"
        warnings.warn(message, RuntimeWarning, stacklevel=1)


def _close(streams: Sequence[Stream]) -> list[Stream]:
    """Close the streams, and return those that do not get done in time."""
    deadline = Deadline(_seconds())
    stuck = []
    for stream in streams:
        if stream._capture is not None:
            stream._capture.end()
        try:
            stream._outlast(deadline.left())
        except (TimeoutError, KeyboardInterrupt) as reason:
            stuck.append(stream)
            if isinstance(reason, KeyboardInterrupt):
                deadline = Deadline(0)
        except Exception as error:  # noqa: BLE001 - a stranger's code, which does not wait and keeps no other stream open
            stream._failure.keep(error)
            _finish(stream)
        else:
            _finish(stream)
    return stuck


def _finish(stream: Stream) -> None:
    """Close a stream that is done. An exception of the provider's code is reported as the stream's failed work is."""
    try:
        stream._finish()
    except Exception as error:  # noqa: BLE001 - as above
        stream._failure.keep(error)


def _seconds() -> float:
    try:
        return max(0.0, float(os.environ.get("EP_EXIT_SECONDS", "")))
    except ValueError:
        return _SECONDS
