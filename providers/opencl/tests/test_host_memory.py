import ctypes

import pyopencl as cl
import pytest
from ep_opencl.memory.host_buffer import HostBuffer, has_host_buffers

import ep

KINDS = [ep.MemoryKind.PINNED, ep.MemoryKind.SHARED]


@pytest.mark.parametrize("kind", KINDS)
def test_host_and_device_reach_the_same_bytes(device, kind):
    if "host-buffers" not in device.info.features:
        pytest.skip("the device has no fine-grained buffers")
    stream = device.stream()
    for nbytes in (1, 127, 5000, 1 << 20):
        memory = device.allocate(nbytes, kind)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory.host()))
        assert address % device.info.alignment == 0
        memory.host()[:] = bytes([7]) * nbytes
        seen = bytearray(nbytes)
        stream.download(seen, memory)
        stream.synchronize()
        assert seen == bytes([7]) * nbytes
        stream.fill(memory, bytes([9]))
        stream.synchronize()
        assert bytes(memory.host()) == bytes([9]) * nbytes
        memory.close()
    stream.close()
    device.synchronize()
    device.trim()
    assert device.twin._reserved == device.memory_info().reserved


def test_device_memory_is_not_the_hosts(device):
    with pytest.raises(ep.UnsupportedError, match=r"stream\.download"):
        device.allocate(4).host()


def test_shared_memory_that_the_driver_refuses_is_accounted_for(device, monkeypatch):
    own = cl.SVMAllocation

    def refuse(context, nbytes, _, flags):
        return own(context, nbytes, 3, flags)  # no power of two, so that the driver gives none

    monkeypatch.setattr(device, "info", device.info._replace(memory_kinds=frozenset(ep.MemoryKind)))
    device.trim()
    before = device.twin._reserved
    with monkeypatch.context() as patch:
        patch.setattr(cl, "SVMAllocation", refuse)
        with pytest.raises(ep.OutOfMemoryError) as caught:
            device.allocate(1000, KINDS[0])
    assert caught.value.requested == 1000
    assert device.twin._reserved == before
    assert device.allocate(1000).nbytes == 1000


@pytest.mark.parametrize("kind", ep.MemoryKind)
def test_context_that_cannot_be_made_takes_no_bytes(device, monkeypatch, kind):
    def refuse(_):
        raise cl.RuntimeError(cl._cl._ErrorRecord(msg="no", code=-6, routine="create_context"))

    twin = device.twin
    before = twin._reserved
    monkeypatch.setattr(twin, "_context", None)
    monkeypatch.setattr(cl, "Context", refuse)
    with pytest.raises(ep.DeviceError, match="clCreateContext"):
        twin.allocate(1000, kind)
    assert twin._reserved == before


def test_device_of_before_shared_memory_has_no_such_kinds(device, monkeypatch):
    class Old:
        @property
        def svm_capabilities(self):
            raise AttributeError

    assert not has_host_buffers(Old())
    monkeypatch.setattr(device, "info", device.info._replace(memory_kinds=frozenset({ep.MemoryKind.DEVICE})))
    with pytest.raises(ep.UnsupportedError, match="no memory of kind SHARED; there is DEVICE"):
        device.allocate(4, ep.MemoryKind.SHARED)
    assert not isinstance(device.allocate(4).handle, HostBuffer)
