"""Memory and streams that others made, checked before EP uses them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

from ep.memory.mapped import is_mapped

from ep_cuda.driver import ffi

if TYPE_CHECKING:
    from ep_cuda.device import CudaDevice

__all__ = ["DEFAULTS", "address_of", "is_host_memory", "stream_of"]

# CUpointer_attribute, cuda.h
_MEMORY_TYPE: Final = 2
_IS_MANAGED: Final = 8
_ORDINAL: Final = 9
_RANGE_START: Final = 11
_RANGE_SIZE: Final = 12

_END: Final = 1 << 64
_HOST: Final = 1  # CU_MEMORYTYPE_HOST

DEFAULTS: Final = frozenset({0, 1, 2})
"""Numbers of the default streams: the context's, as old programs and as each thread have it."""

_WORD: Final = 8

_STREAM_NAMES: Final = ("cuda_stream", "ptr", "handle")
"""How PyTorch, CuPy and PyCUDA call the driver's stream under their own."""


def is_host_memory(device: CudaDevice, address: int) -> bool:
    """Say whether the driver knows an address as memory that the host and kernels reach, under one number."""
    return _asked(device, "unsigned int", _MEMORY_TYPE, address) == _HOST or bool(
        _asked(device, "unsigned int", _IS_MANAGED, address)
    )


def address_of(device: CudaDevice, handle: Any, nbytes: int) -> int:
    """Return the address of a device's memory, of which `nbytes` bytes from there on are one allocation.

    handle : the address

    Raises TypeError for anything else, ValueError for an address that the device does not reach for so many bytes.
    """
    try:
        address = operator.index(handle)
    except TypeError:
        message = f"wrap_memory: handle is {type(handle).__name__}, needs an address"
        raise TypeError(message) from None
    start, size = (
        _asked(device, kind, what, address) for kind, what in (("CUdeviceptr", _RANGE_START), ("size_t", _RANGE_SIZE))
    )
    ordinal = _asked(device, "int", _ORDINAL, address)
    if start is None or size is None or ordinal is None:
        message = f"wrap_memory: the driver knows no memory at {address:#x}; give an address on {device.name}, or use stream.upload"
    elif ordinal != device.ordinal:
        message = f"wrap_memory: the memory at {address:#x} is of CUDA's device {ordinal}, needs one of {device.ordinal}, {device.name}"
    elif address + nbytes > start + size:
        message = f"wrap_memory: from {address:#x} on the allocation has {start + size - address} bytes, needs {nbytes}"
    else:
        return address
    raise ValueError(message)


def stream_of(device: CudaDevice, handle: Any) -> Any:
    """Return a driver's stream of the device's primary context.

    handle : the stream as a number, or an object of PyTorch, CuPy, PyCUDA or with __cuda_stream__

    Raises TypeError for anything else, ValueError for a stream of another context.
    """
    number = _number_of(handle)
    if number not in DEFAULTS and not is_mapped(number, _WORD):
        message = f"wrap_stream: at {number:#x} there is no stream; give one that was not destroyed"
        raise ValueError(message)
    native = ffi.cast("CUstream", number)
    context = ffi.new("CUcontext *")
    with device.context as driver:
        driver.call("cuStreamGetCtx", native, context)
    if context[0] != device.context.native:
        message = f"wrap_stream: the stream is not of {device.name}'s primary context; make it there"
        raise ValueError(message)
    return native


def _number_of(handle: Any) -> int:
    if hasattr(handle, "__cuda_stream__"):
        return int(handle.__cuda_stream__()[1])
    for name in _STREAM_NAMES:
        if hasattr(handle, name):
            handle = getattr(handle, name)
            break
    try:
        return operator.index(handle)
    except TypeError:
        message = (
            f"wrap_stream: handle is {type(handle).__name__}, needs a stream of PyTorch, CuPy or PyCUDA, or its number"
        )
        raise TypeError(message) from None


def _asked(device: CudaDevice, kind: str, attribute: int, address: int) -> Any:
    """Return what the driver says about an address, None if it does not know it."""
    if not 0 < address < _END:
        return None
    answer = ffi.new(f"{kind} *")
    with device.context as driver:
        status = driver.functions.cuPointerGetAttribute(answer, attribute, address)
    return None if status else answer[0]
