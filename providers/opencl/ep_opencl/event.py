"""ClEvent: a marker in an OpenCL queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pyopencl as cl

import ep
from ep_opencl.errors import failure, status_of

if TYPE_CHECKING:
    from ep_opencl.stream import ClStream

__all__ = ["ClEvent"]


class ClEvent(ep.spi.Event):
    """A point in a ClStream.

    native : the pyopencl event of a marker
    """

    wakes_host: ClassVar[bool] = True

    def __init__(self, stream: ClStream, native: cl.Event) -> None:
        self._owner = stream
        self.native = native

    def is_done(self) -> bool:
        status = status_of(self.native)
        if status < 0:
            self._owner.hear()
        return status <= cl.command_execution_status.COMPLETE

    def pause(self, seconds: float) -> None:
        self._owner.pause_for(self.native, seconds)

    def seconds_since(self, earlier: ClEvent) -> float:
        try:
            return float(self.native.profile.end - earlier.native.profile.end) * 1e-9
        except cl.Error as error:
            raise failure(error) from error
