"""The checked door: how a failed OpenCL call becomes one of EP's errors."""

from __future__ import annotations

from typing import Final

import pyopencl as cl

import ep

__all__ = ["failure", "status_failure"]

_NAMES: Final[dict[int, str]] = {
    getattr(cl.status_code, name): name for name in dir(cl.status_code) if name[0].isupper()
}

_MEMORY: Final = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES", "INVALID_BUFFER_SIZE")


def failure(error: cl.Error, requested: int = 0) -> ep.DeviceError:
    """Return EP's error for an exception of pyopencl.

    requested : bytes that the call asked for, if it allocates
    """
    return _failure(str(error.routine), error.code, requested)


def status_failure(status: int) -> ep.DeviceError:
    """Return EP's error for a command that was enqueued and then failed with a negative status."""
    return _failure("clEnqueue*", status, 0)


def _failure(call: str, code: int, requested: int) -> ep.DeviceError:
    name = _NAMES.get(code, "UNKNOWN")
    call, reported = _spelled(call), f"{name} ({code})"
    if name in _MEMORY:
        message = f"OpenCL has no memory for {requested} bytes" if requested else "OpenCL has no memory for the work"
        return ep.OutOfMemoryError(message, requested=requested, provider="opencl", call=call, code=reported)
    if name == "DEVICE_NOT_AVAILABLE":
        return ep.DeviceLostError("the OpenCL device does not answer", provider="opencl", call=call, code=reported)
    return ep.DeviceError("an OpenCL call failed", provider="opencl", call=call, code=reported)


def _spelled(routine: str) -> str:
    """Return OpenCL's name of a routine; pyopencl says "clBuildProgram" of some and "create_buffer" of others."""
    if routine.startswith("cl"):
        return routine
    return "cl" + "".join("ND" if word == "nd" else word.capitalize() for word in routine.split("_"))
