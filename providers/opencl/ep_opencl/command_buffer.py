"""Command buffers, where the driver has cl_khr_command_buffer: commands recorded once and enqueued by one call.

pyopencl does not wrap the extension: its entry points are asked for by name and called with the addresses of
pyopencl's objects. From its version 0.9.8 on the calls have the form used here, and a recording may be enqueued
on any queue of the device (OpenCL API specification, "Command-Buffers").
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyopencl as cl

from ep_opencl.command import Command
from ep_opencl.errors import call_failure, status_of
from ep_opencl.loader import LOADER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_opencl.graph import Transfer
    from ep_opencl.stream import ClStream

__all__ = ["CommandBuffers", "EntryPoints", "entry_points"]

_EXTENSION: Final = "cl_khr_command_buffer"
_OLDEST: Final = (0, 9, 8)
_SUPPORTED_QUEUE_PROPERTIES: Final = 0x129A  # CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
_REQUIRED_QUEUE_PROPERTIES: Final = 0x12AA  # CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR

_FEWEST: Final = 4  # commands from which on one call for all is cheaper than one for each
_MOST: Final = 4  # recordings of one graph under way at once; further launches enqueue command by command

# The last arguments of every recording call: no points to wait for, no point and no handle asked for.
_END: Final = (0, None, None, None)
_TYPES_OF_END: Final = (c_uint, c_void_p, c_void_p, c_void_p)


class EntryPoints(NamedTuple):
    """The calls of the extension, and the properties that a queue must and may have."""

    create: Any
    finalize: Any
    release: Any
    enqueue: Any
    kernel: Any
    copy: Any
    fill: Any
    required: int
    supported: int


def entry_points(native: cl.Device) -> EntryPoints | None:
    """Return the calls of a device's driver, None where it lacks the extension or has an older version of it."""
    if _version(native) < _OLDEST:
        return None
    find = LOADER.clGetExtensionFunctionAddressForPlatform
    find.restype, find.argtypes = c_void_p, [c_void_p, ctypes.c_char_p]
    question = LOADER.clGetDeviceInfo
    question.argtypes = [c_void_p, c_uint, c_size_t, c_void_p, c_void_p]
    ask, platform = question, native.platform.int_ptr

    def point(name: str, result: Any, *types: Any) -> Any:
        address = find(platform, name.encode())
        return ctypes.CFUNCTYPE(result, *types)(address) if address else None

    def properties(name: int) -> int:
        value = c_uint64(0)
        return int(value.value) if ask(native.int_ptr, name, 8, byref(value), None) == 0 else 0

    made = (
        point("clCreateCommandBufferKHR", c_void_p, c_uint, c_void_p, c_void_p, POINTER(c_int)),
        point("clFinalizeCommandBufferKHR", c_int, c_void_p),
        point("clReleaseCommandBufferKHR", c_int, c_void_p),
        point("clEnqueueCommandBufferKHR", c_int, c_uint, c_void_p, c_void_p, c_uint, c_void_p, POINTER(c_void_p)),
        point("clCommandNDRangeKernelKHR", c_int, *[c_void_p] * 4, c_uint, *[c_void_p] * 3, *_TYPES_OF_END),
        point("clCommandCopyBufferKHR", c_int, *[c_void_p] * 5, *[c_size_t] * 3, *_TYPES_OF_END),
        point("clCommandFillBufferKHR", c_int, *[c_void_p] * 5, *[c_size_t] * 3, *_TYPES_OF_END),
    )
    if None in made:
        return None
    return EntryPoints(*made, properties(_REQUIRED_QUEUE_PROPERTIES), properties(_SUPPORTED_QUEUE_PROPERTIES))


class CommandBuffers:
    """One graph's commands, recorded as often as it is under way at once: a recording may not overlap itself.

    Called by one thread at a time, while the kernels' arguments are those to be recorded.
    """

    def __init__(self, points: EntryPoints, work: Sequence[Command | Transfer]) -> None:
        self._points = points
        self._work = work
        self._recorded: list[_Recorded] = []

    def enqueue(self, stream: ClStream) -> bool:
        """Enqueue all commands; False: it cannot be done on this stream, or not now."""
        recorded = self._free(stream) if len(self._work) >= _FEWEST else None
        if recorded is None:
            return False
        event, own = c_void_p(), c_void_p(stream.queue.int_ptr)
        status = self._points.enqueue(1, byref(own), recorded.handle, 0, None, byref(event))
        _check("clEnqueueCommandBufferKHR", status)
        recorded.stream, recorded.last = stream.ledger.name, cl.Event.from_int_ptr(event.value or 0, retain=False)
        stream.placed(recorded.last, "")
        return True

    def close(self) -> None:
        """Release the recordings; those under way end."""
        recorded, self._recorded = self._recorded, []
        for each in recorded:
            self._points.release(each.handle)

    def _free(self, stream: ClStream) -> _Recorded | None:
        """Return a recording whose last run is over when this stream gets to it."""
        for each in self._recorded:
            if each.stream == stream.ledger.name:
                return each
        points, properties = self._points, int(stream.queue.properties)
        if properties & points.required != points.required or properties & ~points.supported:
            return None
        for each in self._recorded:
            if each.last is None or status_of(each.last) <= cl.command_execution_status.COMPLETE:
                return each
        if len(self._recorded) == _MOST:
            return None
        self._recorded.append(_Recorded(self._record(stream.queue)))
        return self._recorded[-1]

    def _record(self, queue: cl.CommandQueue) -> int:
        points, status, own = self._points, c_int(), c_void_p(queue.int_ptr)
        handle = points.create(1, byref(own), None, byref(status))
        _check("clCreateCommandBufferKHR", status.value)
        try:
            for command in self._work:
                if isinstance(command, Command):
                    self._record_kernel(handle, command)
                else:
                    self._record_transfer(handle, command)
            _check("clFinalizeCommandBufferKHR", points.finalize(handle))
        except BaseException:
            points.release(handle)
            raise
        return int(handle)

    def _record_kernel(self, handle: int, command: Command) -> None:
        rank = len(command.size)
        size, group = (c_size_t * rank)(*command.size), (c_size_t * rank)(*command.group)
        kernel = command.kernel.int_ptr
        status = self._points.kernel(handle, None, None, kernel, rank, None, byref(size), byref(group), *_END)
        _check("clCommandNDRangeKernelKHR", status)

    def _record_transfer(self, handle: int, transfer: Transfer) -> None:
        dst, to = transfer.sides[0]
        if transfer.pattern:
            length = len(transfer.pattern)
            pattern = ctypes.create_string_buffer(transfer.pattern, length)
            status = self._points.fill(
                handle, None, None, dst.int_ptr, byref(pattern), length, to, transfer.nbytes, *_END
            )
            return _check("clCommandFillBufferKHR", status)
        src, come = transfer.sides[1]
        status = self._points.copy(handle, None, None, src.int_ptr, dst.int_ptr, come, to, transfer.nbytes, *_END)
        return _check("clCommandCopyBufferKHR", status)


class _Recorded:
    """A command buffer: the stream of its last run, and that run's event."""

    __slots__ = ("handle", "last", "stream")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.stream = ""
        self.last: cl.Event | None = None


def _check(call: str, status: int) -> None:
    if status:
        raise call_failure(call, status)


def _version(native: cl.Device) -> tuple[int, int, int]:
    if _EXTENSION not in native.extensions.split():
        return (0, 0, 0)
    try:
        versions = native.extensions_with_version
    except (cl.Error, AttributeError):  # a device of before OpenCL 3.0
        return (0, 0, 0)
    number = next((each.version for each in versions if each.name == _EXTENSION), 0)
    return number >> 22, number >> 12 & 0x3FF, number & 0xFFF
