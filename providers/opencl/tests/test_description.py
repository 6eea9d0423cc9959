"""Descriptions: a device's fingerprint is the PCI address as the system writes it, whichever words its driver has for it; groups fit."""

from __future__ import annotations

import ep_simt
import pyopencl as cl
import pytest
from ep_opencl.description import _fingerprint
from ep_opencl.device import _target


class Told:
    """A device whose driver answers some questions."""

    def __init__(self, kind, answers):
        self.type, self.answers = kind, answers

    def get_info(self, question):
        return self.answers[question]


_ASKED = cl.device_info
_NVIDIA = {_ASKED.PCI_DOMAIN_ID_NV: 1, _ASKED.PCI_BUS_ID_NV: 0x3B, _ASKED.PCI_SLOT_ID_NV: 2 << 3 | 1}
_AMD = {_ASKED.TOPOLOGY_AMD: cl.DeviceTopologyAmd(0x3B, 2, 1)}


@pytest.mark.parametrize(
    ("extension", "kind", "answers", "address"),
    [
        ("cl_nv_device_attribute_query", cl.device_type.GPU, _NVIDIA, "0001:3b:02.1"),
        ("cl_amd_device_attribute_query", cl.device_type.GPU, _AMD, "0000:3b:02.1"),
        ("cl_amd_device_attribute_query", cl.device_type.CPU, {}, ""),
        ("cl_khr_fp64", cl.device_type.GPU, {}, ""),
    ],
)
def test_fingerprint_is_the_pci_address(extension, kind, answers, address):
    assert _fingerprint(Told(kind, answers), frozenset({extension})) == address


@pytest.mark.parametrize(("most", "group"), [(1024, 256), (256, 256), (255, 128), (12, 8), (1, 1)])
def test_groups_are_no_larger_than_a_device_takes(monkeypatch, most, group):
    monkeypatch.delenv("EP_OPENCL_TARGET", raising=False)
    assert _target(is_cpu=False, most=most).group == group
    assert _target(is_cpu=True, most=most) == ep_simt.CPU
