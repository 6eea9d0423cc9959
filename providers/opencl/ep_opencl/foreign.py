"""Buffers and queues that others made by pyopencl, or name by their OpenCL pointers, checked before EP uses them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyopencl as cl

from ep_opencl.errors import failure

if TYPE_CHECKING:
    from ep_opencl.device import ClDevice

__all__ = ["buffer_of", "queue_of"]

_WORD: Final = struct.calcsize("P")
_ONE_WAY: Final = cl.mem_flags.READ_ONLY | cl.mem_flags.WRITE_ONLY


def buffer_of(device: ClDevice, handle: Any, nbytes: int) -> cl.Buffer:
    """Return a buffer of the device's context with at least `nbytes` bytes.

    handle : a pyopencl Buffer, or the pointer of a cl_mem that a DLPack tensor names, which is retained; callers' own
             numbers do not get here

    Raises TypeError for anything else, ValueError for a buffer that work of the device cannot freely use.
    """
    is_pointer = type(handle) is int
    if not is_pointer and not issubclass(type(handle), cl.Buffer):
        message = f"wrap_memory: handle is {type(handle).__name__}, needs a pyopencl.Buffer"
        raise TypeError(message)
    _require_living(device, handle if is_pointer else handle.int_ptr)
    try:
        buffer = cl.MemoryObject.from_int_ptr(handle, retain=True) if is_pointer else handle
        if not isinstance(buffer, cl.Buffer):
            message = f"wrap_memory: the pointer {handle:#x} belongs to another object, needs a buffer's pointer"
        elif buffer.context != device.context:
            message = f"wrap_memory: the buffer is of another context than {device.name}'s; make it with its device.context, or use stream.upload"
        elif buffer.size < nbytes:
            message = f"wrap_memory: the buffer has {buffer.size} bytes, needs {nbytes}"
        elif _is_part(buffer):
            message = "wrap_memory: the buffer is a part of another; wrap that one and take a view"
        elif buffer.flags & _ONE_WAY:
            message = "wrap_memory: the buffer was made READ_ONLY or WRITE_ONLY; make it READ_WRITE"
        else:
            return buffer
    except cl.Error as error:
        raise failure(error) from error
    raise ValueError(message)


def _require_living(device: ClDevice, pointer: int) -> None:
    """Raise ValueError for a pointer to no object of the driver, as far as can be told.

    Drivers follow any pointer, and pyopencl gives pointers of released buffers, too. An object begins with the
    address of its driver's functions, the same for all objects, and the system reads that word from any address
    without harm. A released object that has not been overwritten still looks like an object.
    """
    if _first_word(pointer) != _first_word(device.context.int_ptr):
        message = f"wrap_memory: at {pointer:#x} there is no object of {device.name}'s driver; give a buffer that was not released"
        raise ValueError(message)


def _first_word(pointer: int) -> bytes | None:
    try:
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:
            memory.seek(pointer)
            return memory.read(_WORD)
    except (OSError, ValueError, OverflowError):  # no such place
        return None


def _is_part(buffer: cl.Buffer) -> bool:
    try:
        return buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT) is not None
    except cl.LogicError as error:
        # Of a buffer in shared virtual memory Intel's driver names that memory, which is no memory object.
        if error.code != cl.status_code.INVALID_MEM_OBJECT:
            raise
        return False


def queue_of(device: ClDevice, handle: Any) -> cl.CommandQueue:
    """Return a queue of the device that does its commands in order.

    handle : a pyopencl CommandQueue

    Raises TypeError for anything else, ValueError for one of another context or device, or out of order.
    """
    if not isinstance(handle, cl.CommandQueue):
        message = f"wrap_stream: handle is {type(handle).__name__}, needs a pyopencl.CommandQueue"
        raise TypeError(message)
    if handle.context != device.context or handle.device != device.native:
        message = f"wrap_stream: the queue is not of {device.name}'s context; make it with its device.context"
        raise ValueError(message)
    if handle.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        message = "wrap_stream: the queue is out of order, and a stream is in order; make it without OUT_OF_ORDER_EXEC_MODE_ENABLE"
        raise ValueError(message)
    return handle
