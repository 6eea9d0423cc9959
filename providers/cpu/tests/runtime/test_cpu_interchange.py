"""Arrays of NumPy and memories of the CPU are the same bytes, whichever ends first."""

import gc
import subprocess
import sys

import numpy as np
import pytest

import ep


@pytest.mark.parametrize("synchronous", [True, False])
def test_an_array_is_written_by_a_stream_and_read_as_it_is(device, synchronous):
    stream = device.stream(synchronous=synchronous)
    memory = device.allocate(1 << 20)
    stream.fill(memory, b"\7")
    array = np.from_dlpack(stream.export(memory[64:], ep.TensorSpec("int16", (10, 3), (4, 1))))
    assert array.ctypes.data == device.twin.address(memory.handle) + 64
    assert (array == 0x0707).all()
    array[:] = 1
    seen = np.zeros(80, np.int16)
    stream.download(seen, memory[64 : 64 + 160])
    stream.close()
    assert seen.reshape(20, 4)[:10, :3].tolist() == [[1] * 3] * 10
    assert set(seen.reshape(20, 4)[:10, 3]) == {0x0707}


def test_a_host_address_is_a_memory_of_the_cpu(device, stream):
    array = np.zeros(64, np.uint8)
    memory = device.wrap_memory(array.ctypes.data, 64, owner=array)
    same = device.wrap_host(array.ctypes.data, 64, array)
    assert memory._distance_to(same[8:]) == 8
    assert device.wrap_memory(memory.handle, 64, owner=array)._distance_to(same) == 0
    stream.fill(memory, b"\3")
    assert (array == 3).all()
    with pytest.raises(ep.UnsupportedError, match="wraps no stream of others"):
        device.wrap_stream(array, owner=array)


def test_closed_memory_is_freed_when_the_last_array_is_gone(device, stream):
    memory = device.allocate(4096)
    array = np.from_dlpack(stream.export(memory, ep.TensorSpec("uint8", (4096,))))
    block = memory._block
    memory.close()
    assert block.lease_ref() is not None
    part = array[100:]
    del array
    gc.collect()
    assert block.lease_ref() is not None
    del part
    gc.collect()
    assert block.lease_ref() is None


AT_EXIT = """
import sys
import ep
import numpy as np

device = ep.device("cpu:0")
stream = device.stream(synchronous={synchronous})
memory = device.allocate(64)
stream.fill(memory, b"\\7")
sys.kept = np.from_dlpack(stream.export(memory, ep.TensorSpec("uint8", (64,))))
sys.capsule = stream.export(memory, ep.TensorSpec("uint8", (64,))).__dlpack__()
sys.exported = stream.export(memory, ep.TensorSpec("uint8", (64,)))
sys.view = ep.view(sys.kept, stream)
print(sys.kept.sum())
"""


@pytest.mark.parametrize("synchronous", [True, False])
def test_arrays_that_outlive_everything_end_in_peace(synchronous):
    program = [sys.executable, "-c", AT_EXIT.format(synchronous=synchronous)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "448\n", "")
