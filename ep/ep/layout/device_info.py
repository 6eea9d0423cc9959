"""A DeviceInfo describes a device in words and numbers that its provider states."""

from __future__ import annotations

from typing import NamedTuple

from ep.layout.memory_kind import MemoryKind

__all__ = ["DeviceInfo"]


class DeviceInfo(NamedTuple):
    """The description of a device. A frozen value.

    memory        : bytes
    memory_kinds  : the kinds that its `allocate` takes, DEVICE among them
    alignment     : bytes; every fresh allocation starts at a multiple of it
    dtypes        : names of the element types that its kernels may compute or store
    features      : words that `when` in claims.toml may ask for, such as "fp64". Two say how float32 and float64 are computed:
                    "fused-multiply-add" (formulas round x y + z once) and "rounded-divide-sqrt" (correctly, of float32);
                    "emulated" says that a program stands in for the hardware, of which nothing is proven then
    flushes       : names of the dtypes whose denormals its kernels flush to zero
    fingerprint   : UUID or PCI address; equal ones are one physical device, an empty one never matches
    determinism   : what repeating a launch on equal inputs guarantees: "bitwise" or "none"
    """

    name: str
    vendor: str
    driver: str = ""
    memory: int = 0
    memory_kinds: frozenset[MemoryKind] = frozenset({MemoryKind.DEVICE})
    compute_units: int = 1
    subgroup_size: int = 1
    alignment: int = 64
    dtypes: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    flushes: frozenset[str] = frozenset()
    fingerprint: str = ""
    determinism: str = "bitwise"
