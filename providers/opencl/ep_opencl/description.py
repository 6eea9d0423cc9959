"""An OpenCL device's facts about itself, as an ep.DeviceInfo."""

from __future__ import annotations

from typing import Any, Final

import pyopencl as cl
from ep_simt import ELEMENTS

import ep
from ep_opencl.memory.host_buffer import has_host_buffers

__all__ = ["ROUNDED", "describe"]

ROUNDED: Final = "rounded-divide-sqrt"
"""The feature of a device whose float32 division and square root can be correctly rounded."""


def describe(native: cl.Device) -> ep.DeviceInfo:
    """Return the description of a device."""
    extensions = frozenset(native.extensions.split())
    single = native.single_fp_config
    features = {"fp64"} if native.double_fp_config else set()
    if "cl_khr_fp16" in extensions:
        features.add("fp16")
    if "cl_khr_priority_hints" in extensions:
        features.add("priority")
    if native.type & cl.device_type.CPU:
        features.add("cpu")
    if single & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT:
        features.add(ROUNDED)
    if has_host_buffers(native):
        features.add("host-buffers")
    return ep.DeviceInfo(
        name=native.name.strip(),
        vendor=native.vendor.strip(),
        driver=f"{native.platform.name.strip()} {native.driver_version.strip()}",
        memory=native.global_mem_size,
        memory_kinds=frozenset(ep.MemoryKind if "host-buffers" in features else {ep.MemoryKind.DEVICE}),
        compute_units=native.max_compute_units,
        subgroup_size=_subgroup_size(native, extensions),
        alignment=native.mem_base_addr_align // 8,
        dtypes=frozenset(ELEMENTS) - (frozenset() if "fp64" in features else {"float64", "complex128"}),
        features=frozenset(features),
        flushes=frozenset() if single & cl.device_fp_config.DENORM else frozenset({"float32"}),
        fingerprint=_fingerprint(native, extensions),
        determinism="bitwise",
    )


def _subgroup_size(native: cl.Device, extensions: frozenset[str]) -> int:
    """Return how many work-items advance together; OpenCL 1.2 itself has no such question."""
    if "cl_nv_device_attribute_query" in extensions:
        return _number(native, cl.device_info.WARP_SIZE_NV)
    if "cl_amd_device_attribute_query" in extensions:
        return _number(native, cl.device_info.WAVEFRONT_WIDTH_AMD)
    return 1


def _fingerprint(native: cl.Device, extensions: frozenset[str]) -> str:
    """Return the PCI address where the driver tells it in a way that pyopencl knows, else "", which matches no other device's."""
    if "cl_nv_device_attribute_query" in extensions:
        domain = _number(native, cl.device_info.PCI_DOMAIN_ID_NV)
        bus, slot = _number(native, cl.device_info.PCI_BUS_ID_NV), _number(native, cl.device_info.PCI_SLOT_ID_NV)
        return f"{domain:04x}:{bus:02x}:{slot >> 3:02x}.{slot & 7}"
    if "cl_amd_device_attribute_query" in extensions and native.type & cl.device_type.GPU:
        topology: Any = native.get_info(cl.device_info.TOPOLOGY_AMD)
        return f"0000:{topology.bus & 0xFF:02x}:{topology.device:02x}.{topology.function}"
    return ""


def _number(native: cl.Device, question: cl.device_info) -> int:
    answer = native.get_info(question)
    assert isinstance(answer, int)
    return answer
