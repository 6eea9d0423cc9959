"""The checked door: how a failed OpenCL call becomes one of EP's errors."""

from __future__ import annotations

from typing import Final

import ep
import pyopencl as cl

__all__ = ["failure", "status_failure"]

_MEMORY: Final = frozenset({
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE,
    cl.status_code.OUT_OF_HOST_MEMORY,
    cl.status_code.OUT_OF_RESOURCES,
    cl.status_code.INVALID_BUFFER_SIZE,
})  # fmt: skip - one code a line

_LOST: Final = frozenset({cl.status_code.DEVICE_NOT_AVAILABLE})


def failure(error: cl.Error, requested: int = 0) -> ep.DeviceError:
    """Return EP's error for an exception of pyopencl.

    requested : bytes that the call asked for, if it allocates
    """
    return _failure(str(error.routine), error.code, requested)


def status_failure(status: int) -> ep.DeviceError:
    """Return EP's error for a command that was enqueued and then failed with a negative status."""
    return _failure("command execution", status, 0)


def _failure(call: str, code: int, requested: int) -> ep.DeviceError:
    name = cl.status_code.to_string(code, "UNKNOWN_%d")
    where = {"provider": "opencl", "call": f"cl{_camel(call)}", "code": f"{name} ({code})"}
    if code in _MEMORY:
        asked = f" for {requested} bytes" if requested else ""
        return ep.OutOfMemoryError(f"OpenCL has no memory{asked}", requested=requested, **where)
    if code in _LOST:
        return ep.DeviceLostError("the OpenCL device does not answer", **where)
    return ep.DeviceError("an OpenCL call failed", **where)


def _camel(routine: str) -> str:
    """Return pyopencl's name of a routine, such as "create_buffer", as OpenCL's: "CreateBuffer"."""
    spelled = {"nd": "ND"}
    return "".join(spelled.get(word, word.capitalize()) for word in routine.removeprefix("cl").split("_"))
