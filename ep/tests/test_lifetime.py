"""What lives how long: dropped streams, failing frees and fences, closing, and the end of the process."""

from __future__ import annotations

import gc
import warnings

import manual
import numpy as np
import pytest

import ep
from ep import registry

SPEC = ep.TensorSpec("int8", (4,))


def boom(*_, **__):
    raise ep.DeviceError("boom")


@pytest.fixture
def direct(provider, monkeypatch):
    """Return two devices that copy from each other without the host."""
    monkeypatch.setattr(manual.ManualDevice, "_can_copy_from", lambda self, other: True)
    return provider.devices()


def test_bytes_are_freed_only_after_the_foreign_streams_work(direct):
    first, second = direct
    memory, target = first.allocate(4), second.allocate(4)
    memory.handle[:] = b"abcd"
    handle = memory.handle
    foreign = second.stream()
    foreign.copy(target, memory)
    memory.close()
    first.synchronize()
    assert first.freed == []
    foreign.advance()
    first.synchronize()
    assert first.freed == [handle]
    assert bytes(target.handle) == b"abcd"


def test_stream_that_touched_nothing_of_a_device_holds_nothing_back(direct):
    first, second = direct
    stream = second.stream()
    stream.upload(second.allocate(4), b"abcd")
    first.allocate(4).close()
    first.synchronize()
    assert len(first.freed) == 1


def test_stream_dropped_in_a_cycle_is_waited_for(device):
    memory = device.allocate(4)
    stream = device.stream()
    stream.upload(memory, b"abcd")
    stream.itself = stream
    del stream
    gc.collect()
    assert bytes(memory.handle) == bytes(4)
    device.synchronize()
    assert bytes(memory.handle) == b"abcd"
    assert not device._retired._orphans


@pytest.mark.parametrize("place", [0, 1])
def test_dropped_stream_is_waited_for_on_each_device_that_it_touched(direct, place):
    source, target = direct[0].allocate(4), direct[1].allocate(4)
    source.handle[:] = b"abcd"
    stream = direct[1].stream()
    stream.copy(target, source)
    stream.itself = stream
    del stream
    gc.collect()
    direct[place].synchronize()
    assert bytes(target.handle) == b"abcd"


@pytest.mark.parametrize("place", [0, 1])
def test_dropped_stream_holds_back_memory_of_each_device_that_it_touched(direct, place):
    memories = [found.allocate(4) for found in direct]
    stream = direct[1].stream()
    queue = stream.queue
    stream.copy(memories[1], memories[0])
    stream.itself = stream
    del stream
    gc.collect()
    memories[place].close()
    direct[place].allocate(0)
    assert direct[place].freed == []
    assert len(queue) == 1
    direct[place].synchronize()
    assert len(direct[place].freed) == 1


def test_dropped_stream_is_waited_for_before_its_device_closes(device):
    memory = device.allocate(4)
    handle = memory.handle
    stream = device.stream()
    stream.upload(memory, b"abcd")
    stream.itself = stream
    del stream
    memory.close()
    gc.collect()
    device.close()
    assert (device.freed, bytes(handle)) == ([handle], b"abcd")


def test_one_failing_free_does_not_lose_the_others(device):
    free = device._free
    failing = []

    def once(handle, kind):
        if not failing:
            failing.append(handle)
            boom()
        free(handle, kind)

    device._free = once
    memories = [device.allocate(4) for _ in range(5)]
    handles = [memory.handle for memory in memories]
    for memory in memories:
        memory.close()
    with pytest.raises(ep.DeviceError, match="boom"):
        device.allocate(0)
    device.allocate(0)
    kept = [handle for handle in handles if handle is not failing[0]]
    assert sorted(map(id, device.freed)) == sorted(map(id, kept))


def test_failing_fence_keeps_what_was_closed(device, stream, monkeypatch):
    memory = device.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    memory.close()
    with monkeypatch.context() as patch:
        patch.setattr(manual.ManualStream, "_record", boom)
        with pytest.raises(ep.DeviceError, match="boom"):
            device.allocate(0)
    assert len(device._retired) == 1
    device.allocate(0)
    assert device.freed == []
    stream.advance()
    device.allocate(0)
    assert device.freed == [handle]


def test_interrupted_close_leaves_the_stream_open_and_its_memories_unfreed(device):
    device.stream_type = manual.PollingStream
    stream = device.stream()
    memory = device.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    memory.close()
    stream.interrupt = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        stream.close()
    device.allocate(0)
    assert (stream.is_closed, stream.closed, device.freed) == (False, False, [])
    stream.advance()
    stream.close()
    device.allocate(0)
    assert (stream.closed, device.freed, bytes(handle)) == (True, [handle], b"abcd")


def test_close_raises_the_error_of_failed_work_and_closes(device, stream):
    stream._fail(ep.DeviceError("boom"))
    with pytest.raises(ep.DeviceError, match="boom"):
        stream.close()
    assert stream.closed
    stream.close()


def test_event_raises_the_streams_error_and_leaves_it_to_the_stream(device, stream):
    event = stream.record()
    stream._fail(ep.DeviceError("boom"))
    for _ in range(2):
        with pytest.raises(ep.DeviceError, match="boom"):
            event.synchronize()
    with pytest.raises(ep.DeviceError, match="boom"):
        stream.synchronize()
    stream.synchronize()
    event.synchronize()


def test_first_of_two_errors_is_raised(stream):
    stream._fail(ep.DeviceError("first"))
    stream._fail(ep.DeviceError("second"))
    with pytest.raises(ep.DeviceError, match="first"):
        stream.synchronize()
    stream.synchronize()


def test_device_with_a_live_step_that_holds_closed_memory_does_not_close(device):
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    x.close()
    out.close()
    with pytest.raises(ep.EpError, match="memory of 4 bytes, memory of 4 bytes; close them first"):
        device.close()
    assert device.freed == []
    step.close()
    device.close()
    assert len(device.freed) == 2


def test_step_that_is_dropped_gives_its_memories_back(device):
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    x.close()
    del step
    device.allocate(0)
    assert len(device.freed) == 1


def test_wrapped_host_memory_is_a_child(host):
    stream = host.stream()
    memory, _ = ep.view(np.zeros(3, np.int8), stream)
    stream.close()
    with pytest.raises(ep.EpError, match="still open are memory of 3 bytes"):
        host.close()
    memory.close()
    host.close()
    assert host.freed == []


def test_wrapped_host_memory_is_never_freed_by_the_provider(host):
    memory, _ = ep.view(np.zeros(3, np.int8), host.stream())
    memory.close()
    host.synchronize()
    assert host.freed == []


def test_closing_the_streams_waits_for_all_work(device):
    streams = [device.stream() for _ in range(3)]
    memory = device.allocate(4)
    streams[1].upload(memory, b"abcd")
    device._close_streams()
    assert [each.is_closed for each in streams] == [True] * 3
    assert [each.closed for each in streams] == [True] * 3
    assert bytes(memory.handle) == b"abcd"


def test_closing_the_streams_waits_for_dropped_ones(device):
    memory = device.allocate(4)
    stream = device.stream()
    stream.upload(memory, b"abcd")
    stream.itself = stream
    del stream
    gc.collect()
    device._close_streams()
    assert bytes(memory.handle) == b"abcd"


def test_closing_the_streams_warns_of_work_that_failed_and_goes_on(device):
    streams = [device.stream() for _ in range(2)]
    for each in streams:
        each._fail(ep.DeviceError("boom"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        device._close_streams()
    assert len([warning for warning in caught if "boom" in str(warning.message)]) == 2
    assert [each.is_closed for each in streams] == [True] * 2


def test_closing_the_memories_frees_open_closed_and_held_ones_once(device):
    memories = [device.allocate(4) for _ in range(3)]
    handles = [memory.handle for memory in memories]
    memories[0].close()
    device._close_memories()
    assert sorted(map(id, device.freed)) == sorted(map(id, handles))
    assert all(memory.is_closed for memory in memories)
    device._close_memories()
    del memories
    device._close_memories()
    assert len(device.freed) == 3


def test_process_ends_with_all_streams_then_all_memories_then_all_devices(provider, monkeypatch):
    log = []
    monkeypatch.setattr(manual.ManualStream, "_close", lambda self: log.append(("stream", len(self.queue))))
    monkeypatch.setattr(manual.ManualDevice, "_free", lambda self, handle, kind: log.append(("memory", bytes(handle))))
    monkeypatch.setattr(manual.ManualDevice, "_close", lambda self: log.append(("device", self.name)))
    monkeypatch.setattr(manual.ManualDevice, "_can_copy_from", lambda self, other: True)
    monkeypatch.setattr(registry, "_LOADED", [provider])
    first, second = provider.devices()
    source, target = first.allocate(4), second.allocate(4)
    streams = [first.stream(), second.stream()]
    streams[0].upload(source, b"abcd")
    streams[0].advance()
    streams[1].copy(target, source)
    registry._shut_down()
    assert log == [
        ("stream", 0),
        ("stream", 0),
        ("memory", b"abcd"),
        ("memory", b"abcd"),
        ("device", "manual:0"),
        ("device", "manual:1"),
    ]
    assert (first.is_closed, second.is_closed) == (True, True)
    registry._shut_down()
    assert len(log) == 6
