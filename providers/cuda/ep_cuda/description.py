"""A CUDA device's facts about itself, as an ep.DeviceInfo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_simt import ELEMENTS

import ep

if TYPE_CHECKING:
    from ep_cuda.driver import Driver

__all__ = ["architecture", "describe"]

# CUdevice_attribute, cuda.h
_WARP_SIZE: Final = 10
_MULTIPROCESSORS: Final = 16
_MAJOR: Final = 75
_MINOR: Final = 76
_CONCURRENT_MANAGED: Final = 89

_ALIGNMENT: Final = 512
_EMULATED: Final = "Emulated CUDA"
"""The name of a driver's devices begins so where there is no GPU (ep_cuda_emulator)."""


def describe(driver: Driver, device: int) -> ep.DeviceInfo:
    """Return the description of a device.

    Kernels are compiled without fast arithmetic, so that no denormal is flushed and quotients are rounded correctly.
    """
    kinds = {ep.MemoryKind.DEVICE, ep.MemoryKind.PINNED}
    if _attribute(driver, device, _CONCURRENT_MANAGED):
        kinds.add(ep.MemoryKind.SHARED)
    name = driver.text("cuDeviceGetName", device)
    return ep.DeviceInfo(
        name=name,
        vendor="NVIDIA Corporation",
        driver=f"CUDA {driver.version // 1000}.{driver.version % 1000 // 10}",
        memory=driver.answer("cuDeviceTotalMem_v2", "size_t", device),
        memory_kinds=frozenset(kinds),
        compute_units=_attribute(driver, device, _MULTIPROCESSORS),
        subgroup_size=_attribute(driver, device, _WARP_SIZE),
        alignment=_ALIGNMENT,
        dtypes=frozenset(ELEMENTS),
        features=frozenset({"fp64", "fp16", "fused-multiply-add", "rounded-divide-sqrt", "priority"})
        | ({"managed"} if ep.MemoryKind.SHARED in kinds else set())
        | ({"peers"} if driver.answer("cuDeviceGetCount", "int") > 1 else set())
        | ({"emulated"} if name.startswith(_EMULATED) else set()),
        fingerprint=driver.text("cuDeviceGetPCIBusId", device).lower(),
        determinism="bitwise",
    )


def architecture(driver: Driver, device: int) -> int:
    """Return the compute capability, as 10 * major + minor."""
    return 10 * _attribute(driver, device, _MAJOR) + _attribute(driver, device, _MINOR)


def _attribute(driver: Driver, device: int, attribute: int) -> int:
    return int(driver.answer("cuDeviceGetAttribute", "int", attribute, device))
