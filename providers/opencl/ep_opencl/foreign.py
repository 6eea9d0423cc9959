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
    try:
        buffer = _object_at(device, handle) if type(handle) is int else handle
        if not issubclass(type(buffer), cl.Buffer):
            message = f"wrap_memory: handle is {type(buffer).__name__}, needs a pyopencl.Buffer"
            raise TypeError(message)
        if buffer.context != device.context:
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


def _object_at(device: ClDevice, pointer: int) -> Any:
    """Return the memory object at a pointer of a DLPack tensor. Raises ValueError where there is none, as far as can be told.

    Drivers follow any pointer. An object begins with the address of its driver's functions, the same for all objects,
    and the system reads it from wherever it may lie without harm. One that was released may still look like one.
    """
    if _first_word(pointer) != _first_word(device.context.int_ptr):
        message = f"wrap_memory: at {pointer:#x} there is no object of {device.name}'s driver; give a tensor of a buffer that lives"
        raise ValueError(message)
    return cl.MemoryObject.from_int_ptr(pointer, retain=True)


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
    if not issubclass(type(handle), cl.CommandQueue):
        message = f"wrap_stream: handle is {type(handle).__name__}, needs a pyopencl.CommandQueue"
        raise TypeError(message)
    if handle.context != device.context or handle.device != device.native:
        message = f"wrap_stream: the queue is not of {device.name}'s context; make it with its device.context"
        raise ValueError(message)
    if handle.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        message = "wrap_stream: the queue is out of order, and a stream is in order; make it without OUT_OF_ORDER_EXEC_MODE_ENABLE"
        raise ValueError(message)
    return handle
