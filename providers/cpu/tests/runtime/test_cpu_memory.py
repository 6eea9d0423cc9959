import itertools

import numpy as np
import pytest
from ep_cpu.device import ALIGNMENT
from ep_cpu.host import memory_size
from ep_cpu.native import open_native

import ep

LARGE = 20 << 20  # several threads, and streaming stores where the last cache has 32 MiB or less


@pytest.mark.parametrize("nbytes", [1, 511, 513, 5 << 20])
def test_memory_starts_at_the_promised_alignment(device, nbytes):
    memory = device.allocate(nbytes)
    assert device.twin.address(memory.handle) % ALIGNMENT == 0
    assert device.info.alignment == ALIGNMENT
    memory.close()


@pytest.mark.parametrize("nbytes", [1 << 62, (1 << 63) - 1, 1 << 45])
def test_memory_of_an_absurd_size_is_refused_and_the_device_still_works(device, nbytes):
    with pytest.raises(ep.OutOfMemoryError) as caught:
        device.allocate(nbytes)
    assert caught.value.requested == nbytes
    device.allocate(64).close()


def test_memory_promised_stays_within_the_machine(device):
    held = []
    with pytest.raises(ep.OutOfMemoryError) as caught:
        held.extend(device.allocate(device.info.memory // 4) for _ in range(6))
    assert caught.value.reserved <= device.info.memory
    for memory in held:
        memory.close()
    device.synchronize()
    device.allocate(device.info.memory // 8).close()
    device.synchronize()


def test_what_the_device_counts_is_what_the_pool_reserves(device, stream):
    memories = [device.allocate(nbytes) for nbytes in (1, 600, 5000, 70_000, 3 << 20)]
    assert device.twin._reserved == device.memory_info().reserved >= sum(memory.nbytes for memory in memories)
    for memory in memories[::2]:
        memory.close()
    assert device.twin._reserved == device.memory_info().reserved
    device.trim()
    assert device.twin._reserved == device.memory_info().reserved
    for memory in memories:
        memory.close()


def test_what_lies_ready_makes_way_for_what_is_large(device, monkeypatch):
    device.trim()
    taken = device.memory_info().reserved
    monkeypatch.setattr("ep_cpu.device.memory_available", lambda: (300 << 20) + taken - device.twin._reserved)
    for nbytes in (100 << 20, 120 << 20):
        device.allocate(nbytes).close()
    assert device.allocate(250 << 20).nbytes == 250 << 20
    device.trim()


def test_free_is_what_neither_this_device_nor_others_hold(device, monkeypatch):
    assert device.memory_info().total == memory_size()
    monkeypatch.setattr("ep_cpu.device.memory_available", lambda: 12_345)
    assert device.memory_info().free == 12_345
    monkeypatch.setattr("ep_cpu.device.memory_available", lambda: None)
    info = device.memory_info()
    assert info.free == info.total - info.reserved


@pytest.mark.parametrize("kind", ep.MemoryKind)
def test_every_kind_of_memory_is_host_memory(device, stream, kind):
    memory = device.allocate(16, kind)
    memory.host()[:] = bytes(range(16))
    stream.copy(memory[8:16], memory[0:8])
    assert bytes(memory.host()) == bytes(range(8)) * 2
    assert device.twin.address(memory.handle) % ALIGNMENT == 0


def test_memory_that_others_hold_is_not_promised(device, monkeypatch):
    monkeypatch.setattr("ep_cpu.device.memory_available", lambda: 100 << 20)
    with pytest.raises(ep.OutOfMemoryError) as caught:
        device.allocate(200 << 20)
    assert caught.value.free == 100 << 20
    device.allocate(90 << 20).close()


@pytest.mark.parametrize(
    ("groups", "limits", "least"),
    [
        ("0::/a/b", {"memory.max": "max", "a/memory.max": "4096", "a/b/memory.max": "8192"}, 4096),
        ("0::/", {"memory.max": "12288"}, 12288),
        ("5:cpu:/x\n4:memory:/a", {"memory/a/memory.limit_in_bytes": "16384", "cpu/x/memory.max": "1"}, 16384),
    ],
)
def test_memory_size_is_the_least_limit_of_the_control_groups(tmp_path, monkeypatch, groups, limits, least):
    monkeypatch.setattr("ep_cpu.host._CGROUP", tmp_path / "fs")
    monkeypatch.setattr("ep_cpu.host._GROUPS", tmp_path / "groups")
    (tmp_path / "groups").write_text(groups)
    for name, limit in limits.items():
        path = tmp_path / "fs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(limit)
    assert memory_size() == least
    (tmp_path / "groups").unlink()
    assert memory_size() > least


def test_memory_is_host_memory(device, stream):
    memory = device.allocate(16)
    memory.host()[:] = bytes(range(16))
    read = bytearray(4)
    stream.download(read, memory[8:12])
    assert bytes(read) == bytes(range(8, 12))
    memory.close()


@pytest.mark.parametrize("nbytes", [1, 63, 64, 100_001, LARGE, LARGE + 65])
def test_copy_moves_every_byte(device, stream, nbytes):
    data = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    source, target = device.allocate(nbytes), device.allocate(nbytes + 1)
    stream.upload(source, data)
    stream.copy(target[1:], source)
    read = np.zeros_like(data)
    stream.download(read, target[1:])
    assert (read == data).all()
    source.close()
    target.close()


@pytest.mark.parametrize("shift", [1, 64, 1000])
def test_copy_survives_overlap_in_both_directions(shift):
    native = open_native()
    for forwards in (True, False):
        data = np.random.default_rng(shift).integers(0, 256, 300_000, np.uint8)
        expected = data.copy()
        n = data.size - shift
        at = native.ffi.from_buffer("char[]", data)
        if forwards:
            expected[shift:] = data[:n]
            native.lib.ep_copy(at + shift, at, n)
        else:
            expected[:n] = data[shift:]
            native.lib.ep_copy(at, at + shift, n)
        assert (data == expected).all()


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("count", [1, 5, 7_001, LARGE // 16])
def test_fill_repeats_the_pattern_and_nothing_else(device, stream, length, count):
    pattern = bytes(range(1, length + 1))
    memory = device.allocate((count + 2) * length)
    stream.fill(memory, b"\0")
    stream.fill(memory[length : (count + 1) * length], pattern)
    assert bytes(memory.host()) == bytes(length) + pattern * count + bytes(length)
    memory.close()


def test_event_time_is_that_of_a_clock_that_does_not_go_back(device, stream):
    events = [stream.record(timed=True) for _ in range(10)]
    spans = [later.seconds_since(earlier) for earlier, later in itertools.pairwise(events)]
    assert all(event.is_done for event in events)
    assert events[-1].seconds_since(events[0]) == pytest.approx(sum(spans))
    assert events[-1].seconds_since(events[0]) > 0
