"""Layout: where the library keeps what compiled kernels look for, as it says when it starts a translator."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Layout"]


class Layout(NamedTuple):
    """Addresses and distances in bytes (native/machine/layout.h has their meaning).

    base           : the first device address
    granule_shift  : the logarithm of a granule's bytes
    granules       : granules of all devices; the table has one entry more, of no bytes
    table          : for each granule, how many bytes of it are allocated, as 16 bits
    store          : where the bytes of the first device address are
    shared_window  : the generic address of a block's first shared byte
    param_window   : the generic address of a launch's first parameter
    parameters     : in a block, where the pointer to the parameters is
    """

    base: int
    granule_shift: int
    granules: int
    table: int
    store: int
    shared_window: int
    param_window: int
    parameters: int
