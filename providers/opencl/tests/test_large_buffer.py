from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from ep_opencl.memory import large_buffer
from ep_opencl.memory.large_buffer import LARGE, LargeBuffer, has_large_buffers

import ep

DEVICE = ep.MemoryKind.DEVICE


@pytest.fixture
def twin(device):
    """The provider's own object of a device that has large buffers."""
    if not has_large_buffers(device.twin.native):
        pytest.skip("the driver keeps what the host has elsewhere, or the system has no such pages")
    return device.twin


def flags_at(address):
    """Return the flags of the mapping that holds an address, as /proc/self/smaps has them."""
    is_here = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split()[0]
        if "-" in first:
            begin, end = (int(word, 16) for word in first.split("-"))
            is_here = begin <= address < end
        elif is_here and first == "VmFlags:":
            return line.split()[1:]
    return []


def test_large_memory_asks_for_huge_pages_and_smaller_does_not(twin):
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("the system has no huge pages")
    before = twin._reserved
    large, small = twin.allocate(LARGE, DEVICE), twin.allocate(LARGE - 1, DEVICE)
    assert "hg" in flags_at(large._address)
    assert not isinstance(small, LargeBuffer)
    twin.free(large, DEVICE)
    twin.free(small, DEVICE)
    assert twin._reserved == before


@pytest.mark.usefixtures("twin")
def test_every_byte_of_large_memory_is_the_devices(device, stream, put, get):
    pattern = np.resize(np.arange(251, dtype=np.uint8), LARGE + 3)
    memory = device.allocate(pattern.nbytes)
    assert isinstance(memory.handle, LargeBuffer)
    stream.upload(memory, pattern)
    assert (get(memory, "u1") == pattern).all()
    stream.copy(memory, put(pattern[::-1]))
    assert (get(memory, "u1") == pattern[::-1]).all()
    stream.fill(memory, bytes([7]))
    assert (get(memory, "u1") == 7).all()


def test_system_without_memory_takes_no_bytes(twin, monkeypatch):
    before = twin._reserved
    monkeypatch.setattr(large_buffer, "_libc", lambda: SimpleNamespace(aligned_alloc=lambda *_: None))
    with pytest.raises(ep.OutOfMemoryError, match="aligned_alloc") as caught:
        twin.allocate(LARGE, DEVICE)
    assert caught.value.requested == LARGE
    assert twin._reserved == before


def test_memory_that_the_driver_refuses_is_given_back(twin, monkeypatch):
    before, freed = twin._reserved, []
    libc = large_buffer._libc()
    free = libc.free
    monkeypatch.setattr(large_buffer, "_FLAGS", large_buffer._FLAGS | cl.mem_flags.ALLOC_HOST_PTR)
    monkeypatch.setattr(libc, "free", lambda address: freed.append(address) or free(address))
    with pytest.raises(ep.DeviceError, match="clCreateBuffer"):
        twin.allocate(LARGE, DEVICE)
    assert len(freed) == 1
    assert twin._reserved == before
