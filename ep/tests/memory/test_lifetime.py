"""What lives how long: dropped streams, failing frees and fences, closing, and the end of the process."""

from __future__ import annotations

import gc
import threading

import manual
import numpy as np
import pytest

import ep

SPEC = ep.TensorSpec("int8", (4,))


def boom(*_, **__):
    raise ep.DeviceError("boom")


@pytest.fixture
def direct(provider, monkeypatch):
    """Return two devices that copy from each other without the host."""
    monkeypatch.setattr(manual.ManualDevice, "can_copy_from", lambda self, other: True)
    return provider.devices()


def test_bytes_are_freed_only_after_the_foreign_streams_work(direct):
    first, second = direct
    memory, target = first.allocate(4), second.allocate(4)
    memory.handle[:] = b"abcd"
    handle = memory.handle
    foreign = second.stream()
    foreign.copy(target, memory)
    memory.close()
    first.trim()
    assert first.twin.freed == []
    foreign.twin.advance()
    first.trim()
    assert first.twin.freed == [handle]
    assert bytes(target.handle) == b"abcd"


def test_stream_that_touched_nothing_of_a_device_holds_nothing_back(direct):
    first, second = direct
    stream = second.stream()
    stream.upload(second.allocate(4), b"abcd")
    first.allocate(4).close()
    first.trim()
    assert len(first.twin.freed) == 1


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
    queue = stream.twin.queue
    stream.copy(memories[1], memories[0])
    stream.itself = stream
    del stream
    gc.collect()
    memories[place].close()
    direct[place].trim()
    assert direct[place].twin.freed == []
    assert len(queue) == 1
    direct[place].synchronize()
    direct[place].trim()
    assert len(direct[place].twin.freed) == 1


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
    assert (device.twin.freed, bytes(handle)) == ([handle], b"abcd")


def test_one_failing_free_does_not_lose_the_others(device):
    free = device.twin.free
    failing = []

    def once(handle, kind):
        if not failing:
            failing.append(handle)
            boom()
        free(handle, kind)

    device.twin.free = once
    memories = [device.allocate(4) for _ in range(5)]
    handles = [memory.handle for memory in memories]
    for memory in memories:
        memory.close()
    with pytest.warns(RuntimeWarning, match="memory could not be freed, which is said once: DeviceError: boom"):
        device.trim()
    kept = [handle for handle in handles if handle is not failing[0]]
    assert sorted(map(id, device.twin.freed)) == sorted(map(id, kept))


def test_failing_fence_keeps_what_was_closed(device, stream, monkeypatch):
    memory = device.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    memory.close()
    with monkeypatch.context() as patch:
        patch.setattr(manual.ManualStream, "record", boom)
        device.trim()  # the failure is the stream's, and whoever trims has nothing to do with it
    assert len(device._retired) == 1
    device.trim()
    assert device.twin.freed == []
    with pytest.raises(ep.DeviceError, match="boom"):
        stream._raise_error(clear=True)
    stream.twin.advance()
    device.trim()
    assert device.twin.freed == [handle]


def test_interrupted_close_leaves_the_stream_open_and_its_memories_unfreed(device):
    device.twin.stream_type = manual.PollingStream
    stream = device.stream()
    memory = device.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    memory.close()
    stream.twin.interrupt = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        stream.close()
    device.trim()
    assert (stream.is_closed, stream.twin.closed, device.twin.freed) == (False, False, [])
    stream.twin.advance()
    stream.close()
    device.trim()
    assert (stream.twin.closed, device.twin.freed, bytes(handle)) == (True, [handle], b"abcd")


def test_close_raises_the_error_of_failed_work_and_closes(device, stream):
    stream.twin.ledger.failed(None, ep.DeviceError("boom"))
    with pytest.raises(ep.DeviceError, match="boom"):
        stream.close()
    assert stream.twin.closed
    stream.close()


def test_event_raises_the_streams_error_and_leaves_it_to_the_stream(device, stream):
    event = stream.record()
    stream.twin.ledger.failed(None, ep.DeviceError("boom"))
    for _ in range(2):
        with pytest.raises(ep.DeviceError, match="boom"):
            event.synchronize()
    with pytest.raises(ep.DeviceError, match="boom"):
        stream.synchronize()
    stream.synchronize()
    event.synchronize()


def test_first_of_two_errors_is_raised(stream):
    stream.twin.ledger.failed(None, ep.DeviceError("first"))
    stream.twin.ledger.failed(None, ep.DeviceError("second"))
    with pytest.raises(ep.DeviceError, match="first"):
        stream.synchronize()
    stream.synchronize()


def test_device_with_a_live_step_that_holds_closed_memory_does_not_close(device):
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    x.close()
    out.close()
    with pytest.raises(ep.EpError, match="still open are 2 memories of 4 bytes"):
        device.close()
    assert device.twin.freed == []
    step.close()
    device.close()
    assert len(device.twin.freed) == 2


def test_step_that_is_dropped_gives_its_memories_back(device):
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    x.close()
    del step
    device.trim()
    assert len(device.twin.freed) == 1


def test_step_and_memory_of_one_cycle_give_the_bytes_back_once(device):
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    x.close()
    cycle = [x, step]
    cycle.append(cycle)
    del x, step, cycle
    gc.collect()
    device.trim()
    assert len(device.twin.freed) == 1


def test_wrapped_host_memory_is_a_child(host):
    stream = host.stream()
    memory, _ = ep.view(np.zeros(3, np.int8), stream)
    stream.close()
    with pytest.raises(ep.EpError, match="still open are 1 memory of 3 bytes"):
        host.close()
    memory.close()
    host.close()
    assert host.twin.freed == []


def test_wrapped_host_memory_is_never_freed_by_the_provider(host):
    memory, _ = ep.view(np.zeros(3, np.int8), host.stream())
    memory.close()
    host.synchronize()
    assert host.trim() == 0
    assert host.twin.freed == []


def test_dropped_streams_error_is_a_warning(device):
    stream = device.stream()
    stream.upload(device.allocate(4), b"abcd")
    stream.twin.ledger.failed(None, ep.DeviceError("boom"))
    stream.itself = stream
    del stream
    gc.collect()
    with pytest.warns(RuntimeWarning, match="nobody waited for it: DeviceError: boom"):
        device.synchronize()


def test_device_waits_for_all_streams_and_then_raises_the_first_error(device):
    streams = [device.stream() for _ in range(3)]
    for each in streams[:2]:
        each.twin.ledger.failed(None, ep.DeviceError(each.name))
    memory = device.allocate(4)
    streams[2].upload(memory, b"abcd")
    for each in streams[:2]:
        with pytest.raises(ep.DeviceError, match=each.name):
            device.synchronize()
        assert bytes(memory.handle) == b"abcd"
    device.synchronize()


def test_fence_of_another_thread_is_not_taken_for_one_behind_later_work(device, monkeypatch):
    """While a verb is under way another thread's drain records a fence: the verb's own work is behind it."""
    stream = device.stream()
    memory = device.allocate(4)
    handle = memory.handle
    copy = manual.ManualStream.copy

    def interrupted(self, *arguments):
        device.allocate(8).close()
        device.trim()  # drains, which records a fence before the copy is there
        copy(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(manual.ManualStream, "copy", interrupted)
        stream.upload(memory, b"abcd")
    memory.close()
    device.trim()
    assert handle not in device.twin.freed
    stream.twin.advance()
    device.trim()
    assert handle in device.twin.freed


def test_fence_is_not_taken_for_one_behind_work_enqueued_while_it_was_recorded(device, monkeypatch):
    stream = device.stream()
    memory = device.allocate(4)
    handle = memory.handle
    record = manual.ManualStream.record

    def overtaken(self, *, timed):
        event = record(self, timed=timed)
        patch.undo()
        stream.upload(memory, b"abcd")
        return event

    with monkeypatch.context() as patch:
        patch.setattr(manual.ManualStream, "record", overtaken)
        stream.upload(memory, b"efgh")
        device.allocate(8).close()
        device.trim()
    memory.close()
    stream.twin.advance(1)
    device.trim()
    assert handle not in device.twin.freed
    stream.twin.advance()
    device.trim()
    assert handle in device.twin.freed


def test_memory_closed_while_another_thread_is_in_a_synchronous_verb_is_kept_for_it():
    device = ep.device("cpu:0")
    stream, memory = device.stream(synchronous=True), device.allocate(1 << 20)
    device.trim()
    before = device.memory_info().in_use
    entered, opened = threading.Event(), threading.Event()

    def hold():
        entered.set()
        opened.wait(20)

    thread = threading.Thread(target=lambda: stream.call(hold))
    thread.start()
    assert entered.wait(20)
    memory.close()
    device.trim()
    assert device.memory_info().in_use == before
    opened.set()
    thread.join(20)
    device.trim()
    assert device.memory_info().in_use == before - (1 << 20)
    stream.close()


def test_verb_that_is_refused_keeps_nothing(device, stream):
    closed, other = device.allocate(8), device.allocate(8)
    closed.close()
    with pytest.raises(ep.ClosedError):
        stream._submit("copy", (closed,), (), lambda *_: None)
    assert not stream._inside
    sequence = stream._sequence
    other.close()
    assert stream._sequence == sequence
