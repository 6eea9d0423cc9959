"""A peer on the OpenCL device that EP uses, so that both are measured on the same processor."""

from __future__ import annotations

import pyopencl as cl

import ep
from ep_benchmarks.peers.peer import Peer

__all__ = ["DevicePeer", "queue_on"]

_CURE = "pip install 'execution-provider[opencl]' brings PoCL, an OpenCL driver for processors"


def queue_on(device: ep.Device | None) -> cl.CommandQueue:
    """Return a new in-order queue in the context of an EP device; if that is not OpenCL's, on the device that pyopencl chooses.

    Raises UnavailableError if there is no OpenCL device.
    """
    context = getattr(device.twin, "context", None) if device is not None else None
    try:
        if not isinstance(context, cl.Context):
            context = cl.create_some_context(interactive=False)
        return cl.CommandQueue(context)
    except (cl.Error, RuntimeError) as error:
        message = f"the peers plain and pyopencl need an OpenCL device ({str(error).partition(chr(10))[0]}); {_CURE}"
        raise ep.UnavailableError(message) from None


class DevicePeer(Peer):
    """A peer whose work goes to one queue."""

    def __init__(self) -> None:
        self._queue: cl.CommandQueue | None = None

    @property
    def queue(self) -> cl.CommandQueue:
        """The queue, on a device of pyopencl's choice if none was named. Raises UnavailableError if there is no OpenCL device."""
        if self._queue is None:
            self._queue = queue_on(None)
        return self._queue

    def use_threads(self, count: int) -> None:
        """Leave them: they are the driver's, which EP uses, too."""

    def use_device(self, device: ep.Device) -> None:
        self._queue = queue_on(device)
