"""The queue of a peer: on the OpenCL device that EP uses, so that both are measured on the same processor."""

from __future__ import annotations

import pyopencl as cl

import ep

__all__ = ["queue_on"]

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
