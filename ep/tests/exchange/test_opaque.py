"""DLPack pointers that name objects: the provider says so, and nothing is added to them."""

from __future__ import annotations

import ctypes

import manual
import numpy as np
import pytest
from capsules import VERSIONED, capsule

import ep


@pytest.mark.parametrize("kind", [4, 12])
def test_number_of_an_object_is_refused_where_the_provider_says_that_it_is_one(provider, kind):
    info, data = ep.DeviceInfo("Far", "Test"), np.zeros(64, np.uint8)
    provider.twin.devices = lambda: [manual.DLPackDevice(info, kind, is_opaque=i) for i in (False, True)]
    shown, hidden = provider.devices()
    assert shown.wrap_memory(data.ctypes.data, 64, owner=data).nbytes == 64
    with pytest.raises(TypeError, match="which may stand for no object; give the object of the driver's binding"):
        hidden.wrap_memory(data.ctypes.data, 64, owner=data)


def test_offset_into_an_object_stays_beside_its_number_and_is_not_added(provider):
    info, array = ep.DeviceInfo("Far", "Test"), np.arange(16, dtype=np.uint8)
    provider.twin.devices = lambda: [manual.DLPackDevice(info, 12, is_opaque=True)]
    device = provider.devices()[0]

    class Object:
        def __dlpack_device__(self):
            return (12, 0)

        def __dlpack__(self, **_):
            return capsule(VERSIONED, array.ctypes.data, (4,), None, device=(12, 0), code=1, bits=8, offset=8)

    stream = device.stream()
    memory, _ = ep.view(Object(), stream)
    assert (ctypes.addressof(memory.handle), memory.offset) == (array.ctypes.data, 8)
    back = bytearray(4)
    stream.download(back, memory)
    stream.synchronize()
    assert list(back) == [8, 9, 10, 11]
