"""CudaEvent: a driver's event that was recorded once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep_cuda.driver import ffi
from ep_cuda.errors import NOT_READY

if TYPE_CHECKING:
    from collections import deque

    from ep_cuda.stream import CudaStream

__all__ = ["CudaEvent"]


class CudaEvent(ep.spi.Event):
    """A point in a CudaStream.

    native : the driver's event. It goes to `spare` with this object: what waits for the point knows it by then
    """

    wakes_host: ClassVar[bool] = True

    def __init__(self, stream: CudaStream, native: Any, spare: deque[Any]) -> None:
        self._owner = stream
        self._spare = spare
        self.native = native

    def is_done(self) -> bool:
        device = self._owner.device
        if device.is_lost:
            return True
        with device.context as driver:
            status = driver.functions.cuEventQuery(self.native)
        if status and status != NOT_READY:
            self._owner.hear("cuEventQuery", status)
        return bool(status != NOT_READY)

    def pause(self, seconds: float) -> None:
        owner = self._owner
        owner.rest(seconds, functools.partial(owner.device.context.wait, "cuEventSynchronize", self))

    def seconds_since(self, earlier: CudaEvent) -> float:
        milliseconds = ffi.new("float *")
        with self._owner.device.context as driver:
            driver.call("cuEventElapsedTime", milliseconds, earlier.native, self.native)
        return float(milliseconds[0]) * 1e-3

    def __del__(self) -> None:
        self._spare.append(self.native)
