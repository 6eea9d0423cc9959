"""Whether host memory lies at an address that a caller gives as a number."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any, Final

__all__ = ["is_mapped"]

_PAGE: Final = mmap.PAGESIZE
# Where the system has no such question, nothing is known to be missing.
_mincore: Final[Any] = getattr(ctypes.CDLL(None), "mincore", None) if hasattr(mmap, "MAP_PRIVATE") else None


def is_mapped(address: int, nbytes: int) -> bool:
    """Say whether the process has the pages of the first and the last byte; what they let it do is not asked."""
    if _mincore is None or not nbytes:
        return True
    return all(_has_page(place // _PAGE * _PAGE) for place in (address, address + nbytes - 1))


def _has_page(start: int) -> bool:
    return not _mincore(ctypes.c_void_p(start), ctypes.c_size_t(1), ctypes.byref(ctypes.c_ubyte()))
