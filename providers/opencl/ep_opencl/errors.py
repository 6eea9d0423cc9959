"""The checked door: how a failed OpenCL call becomes one of EP's errors."""

from __future__ import annotations

from typing import Final

import pyopencl as cl

import ep

__all__ = ["call_failure", "failure", "status_failure", "status_of"]

_NAMES: Final[dict[int, str]] = {
    getattr(cl.status_code, name): name for name in dir(cl.status_code) if name[0].isupper()
}

_MEMORY: Final = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY")

# Of an allocation these mean that it does not fit; of anything else OUT_OF_RESOURCES may be a fault of a kernel.
_ALLOCATION: Final = ("OUT_OF_RESOURCES", "INVALID_BUFFER_SIZE")


def failure(error: cl.Error, requested: int = 0) -> ep.DeviceError:
    """Return EP's error for an exception of pyopencl.

    requested : bytes that the call asked for, if it allocates
    """
    return _failure(str(error.routine), error.code, requested)


def call_failure(call: str, status: int) -> ep.DeviceError:
    """Return EP's error for an OpenCL call that returned a negative status."""
    return _failure(call, status, 0)


def status_failure(status: int) -> ep.DeviceError:
    """Return EP's error for a command that was enqueued and then failed with a negative status."""
    return _failure("clEnqueue*", status, 0)


def status_of(event: cl.Event) -> int:
    """Return the status of a command: positive while it is under way, 0 once done, negative if it failed."""
    try:
        return int(event.command_execution_status)
    except cl.Error as error:
        raise failure(error) from error


def _failure(call: str, code: int, requested: int) -> ep.DeviceError:
    name = _NAMES.get(code, "UNKNOWN")
    call, reported = _spelled(call), f"{name} ({code})"
    if name in _MEMORY or (requested and name in _ALLOCATION):
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
