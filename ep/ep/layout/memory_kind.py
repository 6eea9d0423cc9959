"""A MemoryKind says where bytes live, and how the host reaches them."""

from __future__ import annotations

import enum

__all__ = ["MemoryKind"]


class MemoryKind(enum.Enum):
    """Where bytes live and how the host reaches them. Kernels and verbs of streams take all kinds alike.

    DEVICE : where the device computes fastest; `memory.host()` only where that happens to be host memory
    PINNED : host memory that the driver has locked for the device: `memory.host()` works, and copies between it and
             DEVICE memory go straight, past any staging buffer; kernels may read and write it, perhaps slowly
    SHARED : one allocation that both reach at its place: `memory.host()` works, and nothing needs to be copied

    PINNED and SHARED memory: once the host has waited for a stream's write, it sees the written bytes; work that is
    enqueued after a write of the host sees those. Host and device must not touch bytes that the other is using.
    """

    DEVICE = "device"
    PINNED = "pinned"
    SHARED = "shared"

    # A member is compared by identity; Enum's own hash is a Python function, and allocating would pay for it.
    __hash__ = object.__hash__
