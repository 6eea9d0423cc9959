"""Staging: locked host memory between the device and buffers that the driver would wait for."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ep_cuda.driver import Context

__all__ = ["Staging"]

_SMALLEST: Final = 1 << 12
_MOST_KEPT: Final = 1 << 28
_PORTABLE: Final = 1  # CU_MEMHOSTALLOC_PORTABLE


class Staging:
    """Buffers of a device in powers of two; what comes back is kept for the next, up to 256 MiB."""

    largest: Final = 1 << 26
    """The bytes of the largest buffer: longer copies go in pieces."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._spare: dict[int, list[Any]] = defaultdict(list)
        self._kept = 0
        self._turn = threading.RLock()

    def take(self, nbytes: int) -> Any:
        """Return the address of a buffer of at least so many bytes. Raises OutOfMemoryError."""
        size = _size(nbytes)
        with self._turn:
            if self._spare[size]:
                self._kept -= size
                return self._spare[size].pop()
        with self._context as driver:
            return driver.answer("cuMemHostAlloc", "void *", size, _PORTABLE)

    def give(self, address: Any, nbytes: int) -> None:
        """Take a buffer back that was taken for so many bytes; nothing uses it any more."""
        size = _size(nbytes)
        with self._turn:
            if self._kept + size <= _MOST_KEPT:
                self._kept += size
                self._spare[size].append(address)
                return
        self._free(address)

    def close(self) -> None:
        """Free what is kept."""
        with self._turn:
            kept, self._spare = self._spare, defaultdict(list)
            self._kept = 0
        for addresses in kept.values():
            for address in addresses:
                self._free(address)

    def _free(self, address: Any) -> None:
        with self._context as driver:
            driver.functions.cuMemFreeHost(address)


def _size(nbytes: int) -> int:
    return 1 << max(nbytes - 1, _SMALLEST - 1).bit_length()
