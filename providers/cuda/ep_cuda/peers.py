"""Peers: the devices whose memory a device reaches by itself, over NVLink or PCI Express."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from ep_cuda.driver import driver

if TYPE_CHECKING:
    from ep_cuda.device import CudaDevice

__all__ = ["Peers"]

_REFUSALS: Final = frozenset({217, 711})  # CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_TOO_MANY_PEERS
_ALREADY: Final = 704  # CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED: by another library of the process


class Peers:
    """What a device reaches; access is enabled when it is first asked for, as it makes allocations of either side dearer."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self._reached: dict[int, bool] = {}
        self._turn = threading.RLock()

    def reach(self, other: CudaDevice) -> bool:
        """Enable access to another device's memory, and say whether kernels have it. Raises DeviceError."""
        with self._turn:
            if other.ordinal not in self._reached:
                self._reached[other.ordinal] = self._enable(other)
            return self._reached[other.ordinal]

    def _enable(self, other: CudaDevice) -> bool:
        device, theirs = self._device, other.context.native
        if not driver().answer("cuDeviceCanAccessPeer", "int", device.ordinal, other.ordinal):
            return False
        with device.context as current:
            status = current.functions.cuCtxEnablePeerAccess(theirs, 0)
        if status in _REFUSALS:
            return False
        if status not in {0, _ALREADY}:
            raise device.failed(status, "cuCtxEnablePeerAccess")
        return True

    def forget(self) -> None:
        """Take note that the device's context was given up."""
        self._reached.clear()
