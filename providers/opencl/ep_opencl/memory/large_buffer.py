"""Buffers of processors in huge pages, which drivers do not ask for: fewer are looked up, and fewer are missing at first."""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import TYPE_CHECKING, Final

import pyopencl as cl

import ep
from ep_opencl.compiler.binaries import keeps_none
from ep_opencl.compiler.pocl import is_pocl

if TYPE_CHECKING:
    from ep_opencl.device import ClDevice

__all__ = ["LARGE", "LargeBuffer", "has_large_buffers"]

LARGE: Final = 4 << 20
"""Bytes from which on a buffer is large, as on the CPU provider."""

_PAGE: Final = 2 << 20

_FLAGS: Final = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR


def has_large_buffers(native: cl.Device) -> bool:
    """Say whether a device works in the host's memory where it lies: PoCL's and Intel's for CPUs do, Oclgrind does not."""
    is_in_place = bool(native.type & cl.device_type.CPU) and (is_pocl(native) or keeps_none(native))
    return is_in_place and hasattr(mmap, "MADV_HUGEPAGE")


class LargeBuffer(cl.Buffer):
    """A buffer in huge pages of the host's memory, as far as the system has some."""

    def __init__(self, device: ClDevice, nbytes: int) -> None:
        """Make a buffer. Raises OutOfMemoryError, or pyopencl's Error."""
        libc, rounded = _libc(), -(-nbytes // _PAGE) * _PAGE
        # The mapping of an object of Python's would end with it, before work that the driver has not ended.
        self._address = libc.aligned_alloc(_PAGE, rounded)
        if not self._address:
            message = f"the system has no memory for {nbytes} bytes"
            raise ep.OutOfMemoryError(message, requested=nbytes, provider="opencl", call="aligned_alloc")
        libc.madvise(self._address, rounded, mmap.MADV_HUGEPAGE)
        memory = (ctypes.c_ubyte * nbytes).from_address(self._address)
        try:
            super().__init__(device.context, _FLAGS, nbytes, hostbuf=memory)
        except BaseException:
            libc.free(self._address)
            raise

    def free(self) -> None:
        """Release the buffer, then the memory under it."""
        self.release()
        _libc().free(self._address)


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype = ctypes.c_void_p
    libc.aligned_alloc.argtypes = (ctypes.c_size_t, ctypes.c_size_t)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    libc.free.argtypes = (ctypes.c_void_p,)
    libc.free.restype = None
    return libc
