"""Buffers that the host reaches: over fine-grained shared virtual memory, which needs no mapping and no copy."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

import pyopencl as cl

if TYPE_CHECKING:
    from ep_opencl.device import ClDevice

__all__ = ["HostBuffer", "has_host_buffers"]

_FLAGS: Final = cl.svm_mem_flags.READ_WRITE | cl.svm_mem_flags.SVM_FINE_GRAIN_BUFFER


def has_host_buffers(native: cl.Device) -> bool:
    """Say whether a device shares buffers with the host byte by byte; OpenCL before 2.0 has no such question."""
    try:
        return bool(native.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER)
    except (cl.Error, AttributeError):
        return False


class HostBuffer(cl.Buffer):
    """A buffer in memory that host and device both reach.

    view : these bytes, for the host
    """

    def __init__(self, device: ClDevice, nbytes: int) -> None:
        # The driver aligns shared memory for its largest type, 128 bytes; buffers may be promised more.
        alignment = device.info.alignment
        self._shared = cl.SVMAllocation(device.context, nbytes + alignment, 0, _FLAGS)
        start = -(-self._shared.svm_ptr // alignment) * alignment
        self.view = memoryview((ctypes.c_ubyte * nbytes).from_address(start)).cast("B")
        try:
            super().__init__(
                device.context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, nbytes, hostbuf=self.view
            )
        except cl.Error:
            self._shared.release()
            raise

    def free(self) -> None:
        """Release the buffer, then the memory under it."""
        self.release()
        self._shared.release()
