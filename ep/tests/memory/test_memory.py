"""Memory, views and the retire list."""

from __future__ import annotations

import gc
import weakref

import pytest

import ep


def test_view_places_bytes_and_checks_bounds(device, stream):
    memory = device.allocate(16)
    view = memory[4:12][2:6]
    assert (view.offset, view.nbytes, view.handle is memory.handle) == (6, 4, True)
    for bad in (slice(-1, 4), slice(5, 4), slice(0, 17)):
        with pytest.raises(ValueError, match="0 <= start <= stop <= 16"):
            memory[bad]
    with pytest.raises(TypeError, match="slice"):
        memory[3]


def test_zero_bytes_never_reach_the_provider(device, stream):
    memory = device.allocate(0)
    stream.upload(memory, b"")
    stream.fill(memory, b"\0")
    memory.close()
    device.synchronize()
    device.trim()
    assert stream.twin.enqueued == 0
    assert device.twin.freed == []


def test_closing_a_base_closes_its_views_and_not_the_other_way(device, stream):
    memory = device.allocate(8)
    first, second = memory[:4], memory[4:]
    first.close()
    assert (first.is_closed, memory.is_closed, second.is_closed) == (True, False, False)
    with pytest.raises(ep.ClosedError, match="4 bytes"):
        stream.upload(first, b"1234")
    memory.close()
    memory.close()
    assert second.is_closed
    with pytest.raises(ep.ClosedError):
        stream.upload(second, b"1234")
    with pytest.raises(ep.ClosedError):
        second[:1]


def test_closed_memory_is_freed_only_after_the_work_that_may_touch_it(device, stream):
    memory = device.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    memory.close()
    device.trim()
    assert device.twin.freed == []
    stream.twin.advance()
    device.trim()
    assert device.twin.freed == [handle]


def test_one_fence_a_stream_serves_many_closed_memories(device, stream):
    memories = [device.allocate(4) for _ in range(50)]
    stream.upload(memories[0], b"abcd")
    for memory in memories:
        memory.close()
    device.trim()
    device.trim()
    assert stream.twin.events == 1
    stream.twin.advance()
    device.trim()
    assert len(device.twin.freed) == 50


def test_dropped_memory_is_retired_by_its_finalizer(device, stream):
    memory = device.allocate(4)
    view = memory[1:3]
    del memory
    gc.collect()
    device.trim()
    assert device.twin.freed == []
    del view
    device.trim()
    assert len(device.twin.freed) == 1


def test_dropped_stream_lives_until_its_work_is_done(device, stream):
    memory = device.allocate(4)
    other = device.stream()
    kept = other.twin.queue
    other.upload(memory, b"abcd")
    dead = weakref.ref(other)
    advance = other.twin.advance.__func__
    handle = memory.handle
    del other
    memory.close()
    gc.collect()
    device.trim()
    assert device.twin.freed == []
    orphan = device._retired._orphans[0]
    assert orphan.twin.queue is kept
    advance(orphan.twin)
    del orphan
    device.trim()
    gc.collect()
    assert device.twin.freed == [handle]
    assert bytes(handle) == b"abcd"
    assert dead() is None
    assert not device._retired._orphans


def test_out_of_memory_frees_what_waits_and_tries_again(device, stream):
    device.twin.limit = 10
    memory = device.allocate(8)
    stream.upload(memory, b"x" * 8)
    with pytest.raises(ep.OutOfMemoryError) as caught:
        device.allocate(8)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.requested == 8
    memory.close()
    assert device.allocate(8).nbytes == 8


def test_wrong_sizes_are_refused(device):
    with pytest.raises(ValueError, match="-1"):
        device.allocate(-1)
    with pytest.raises(TypeError, match=r"1\.5"):
        device.allocate(1.5)


def test_host_is_refused_where_the_device_does_not_show_its_memory(device):
    with pytest.raises(ep.UnsupportedError, match="download"):
        device.allocate(4).host()
