"""The pool: what lies ready for whom and when, what is counted, and what happens when memory is short."""

from __future__ import annotations

import gc

import manual
import numpy as np
import pytest
from manual import figures

import ep

SPEC = ep.TensorSpec("int8", (4,))


@pytest.mark.parametrize("alignment", [1, 64, 512, 4096])
def test_segments_have_eight_lengths_an_octave_and_little_to_spare(provider, alignment):
    provider.twin.devices = lambda: [manual.ManualDevice(ep.DeviceInfo("D", "T", alignment=alignment))]
    size_of = provider.devices()[0].twin.segment_size
    for nbytes in [*range(1, 5000), *(int(1.007**n) for n in range(1300, 6000, 7))]:
        size = size_of(nbytes)
        assert size >= nbytes
        assert size % alignment == 0
        assert size_of(size) == size
        assert size - nbytes < max(alignment, size / 8)
    octave = {size_of(nbytes) for nbytes in range((1 << 20) + 1, (2 << 20) + 1, 997)}
    assert len(octave) == 8


def test_what_was_closed_serves_the_next_of_its_length(wide):
    first = wide.allocate(100)
    handle, space = first.handle, first._block.space
    first.close()
    second = wide.allocate(120)
    assert second.handle is handle
    assert second.nbytes == 120
    assert len(second.host()) == 120
    assert second._block.space != space
    assert figures(wide) == (128, 128, 1, 1)
    third = wide.allocate(129)
    assert third.handle is not handle
    assert figures(wide) == (128 + 192, 128 + 192, 1, 2)


def test_closed_memory_stays_closed_though_its_segment_is_used_again(device, stream):
    first = device.allocate(4)
    view = first[1:3]
    first.close()
    second = device.allocate(4)
    assert second.handle is first.handle
    for old in (first, view):
        with pytest.raises(ep.ClosedError):
            stream.fill(old, b"\0")
    first.close()
    del first, view
    gc.collect()
    assert figures(device) == (4, 4, 1, 1)
    assert not second.is_closed


def test_memory_that_a_stream_may_still_use_does_not_lie_ready(device, stream):
    first = device.allocate(4)
    handle = first.handle
    stream.upload(first, b"abcd")
    first.close()
    assert device.allocate(4).handle is not handle
    assert figures(device)[0] == 8  # the other was dropped at once, and waits with the first
    stream.twin.advance()
    assert device.memory_info().in_use == 0
    found = [device.allocate(4) for _ in range(2)]
    assert any(memory.handle is handle for memory in found)


def test_stream_takes_what_it_freed_at_once_and_nobody_else_does(device, stream):
    other = device.stream()
    first = stream.allocate(4)
    handle, space = first.handle, first._block.space
    stream.upload(first, b"abcd")
    stream.free(first)
    assert other.allocate(4).handle is not handle
    assert device.allocate(4).handle is not handle
    again = stream.allocate(4)
    assert again.handle is handle
    assert again._block.space != space
    stream.upload(again, b"efgh")
    stream.twin.advance()
    device.synchronize()
    assert bytes(handle) == b"efgh"
    assert device.allocate(4).handle is not handle  # the entry of its first use gave nothing back
    again.close()
    device.synchronize()
    device.trim()
    assert [each is handle for each in device.twin.freed].count(True) == 1


def test_what_a_stream_freed_is_everybodys_once_it_is_past_that_point(device, stream):
    first = stream.allocate(4)
    handle = first.handle
    stream.upload(first, b"abcd")
    stream.free(first)
    device.memory_info()
    stream.twin.advance()
    assert device.memory_info().in_use == 0
    again = device.allocate(4)
    assert again.handle is handle
    assert stream.allocate(4).handle is not handle
    assert not any(row.before is not row for row in stream._freed.values())


def test_stream_takes_again_what_it_freed_last(device, stream):
    memories = [stream.allocate(4) for _ in range(3)]
    handles = [memory.handle for memory in memories]
    for memory in memories:
        stream.upload(memory, b"abcd")
        stream.free(memory)
    assert [stream.allocate(4).handle is handle for handle in reversed(handles)] == [True] * 3


@pytest.mark.parametrize("again", [True, False])
def test_freed_memory_outlives_its_dropped_stream(device, again):
    stream = device.stream()
    memory = stream.allocate(4)
    handle = memory.handle
    stream.upload(memory, b"abcd")
    stream.free(memory)
    if again:
        stream.upload(stream.allocate(4), b"efgh")
    stream.itself = stream
    del stream, memory
    gc.collect()
    assert device.allocate(4).handle is not handle
    device.synchronize()
    assert bytes(handle) == (b"efgh" if again else b"abcd")
    gc.collect()  # an event that was recorded for what was freed may have kept the stream so far
    device.close()
    assert any(each is handle for each in device.twin.freed)


def test_free_says_what_it_cannot_free(provider, device, stream):
    memory = stream.allocate(8)
    with pytest.raises(ValueError, match=r"free: memory is a view of 2 bytes at 1"):
        stream.free(memory[1:3])
    with pytest.raises(ValueError, match="free: memory is on manual:1"):
        stream.free(provider.devices()[1].allocate(4))
    with pytest.raises(TypeError, match="free: memory is bytes"):
        stream.free(b"abcd")
    stream.free(memory)
    with pytest.raises(ep.ClosedError, match="free: memory"):
        stream.free(memory)
    memory.close()
    assert figures(device)[:2] == (0, 8)
    late = device.allocate(4)
    stream.close()
    for verb in (lambda: stream.allocate(4), lambda: stream.free(late)):
        with pytest.raises(ep.ClosedError, match="was closed"):
            verb()


def test_stream_allocates_as_the_device_does(device, stream):
    for wrong, error in ((-1, ValueError), (1.5, TypeError), ("4", TypeError)):
        with pytest.raises(error, match="allocate: nbytes"):
            stream.allocate(wrong)
    with pytest.raises(ep.UnsupportedError, match="no memory of kind PINNED; there is DEVICE"):
        stream.allocate(4, ep.MemoryKind.PINNED)
    empty = stream.allocate(0)
    stream.free(empty)
    assert figures(device) == (0, 0, 0, 0)
    assert empty.is_closed
    assert stream.allocate(np.int64(4)).nbytes == 4


def test_what_a_step_holds_is_not_used_again(device, stream):
    x, out = stream.allocate(4), stream.allocate(4)
    handles = [x.handle, out.handle]
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=x, out=out)
    stream.free(x)
    out.close()
    device.synchronize()
    for memory in (stream.allocate(4), stream.allocate(4), device.allocate(4)):
        assert all(memory.handle is not handle for handle in handles)
    step(stream)
    stream.twin.advance()
    step.close()
    device.synchronize()
    found = [device.allocate(4) for _ in range(5)]
    assert sum(any(memory.handle is handle for handle in handles) for memory in found) == 2


def test_wrapped_memory_never_lies_ready(host):
    stream = host.stream()
    array = np.zeros(4, np.int8)
    for give_back in (ep.Memory.close, stream.free):
        memory, _ = ep.view(array, stream)
        stream.fill(memory, b"\1")
        give_back(memory)
        stream.twin.advance()
        host.synchronize()
        assert figures(host) == (0, 0, 0, 0)
        assert host._heap.pool.blocks() == []
    assert host.allocate(4).handle is not array


def test_provider_hears_of_what_lies_ready_and_of_what_is_used_again(provider):
    log = []

    class Hearing(manual.ManualDevice):
        def park(self, handle, kind):
            log.append(("park", bytes(handle), kind))

        def unpark(self, handle, nbytes, kind):
            log.append(("unpark", nbytes, kind))

    provider.twin.devices = lambda: [Hearing(ep.DeviceInfo("D", "T", alignment=64))]
    device = provider.devices()[0]
    stream = device.stream()
    kind = ep.MemoryKind.DEVICE
    memory = device.allocate(3)
    stream.upload(memory, b"abc")
    memory.close()
    device.memory_info()
    assert log == []
    stream.twin.advance()
    device.memory_info()
    ((word, content, _),) = log
    assert (word, content[:3]) == ("park", b"abc")
    again = stream.allocate(5)
    assert log[1:] == [("unpark", 5, kind)]
    stream.upload(again, b"abcde")
    stream.free(again)
    again = stream.allocate(6)  # in the stream's order: nothing was put away
    assert len(log) == 2
    again.close()
    device.synchronize()
    assert len(log) == 3


def test_kinds_lie_on_shelves_of_their_own(provider):
    kinds = []

    class Kinds(manual.ManualDevice):
        def allocate(self, nbytes, kind):
            kinds.append(kind)
            return super().allocate(nbytes, kind)

    provider.twin.devices = lambda: [
        Kinds(ep.DeviceInfo("D", "T", memory_kinds=frozenset({ep.MemoryKind.DEVICE, ep.MemoryKind.SHARED})))
    ]
    device = provider.devices()[0]
    device.allocate(4).close()
    shared = device.allocate(4, ep.MemoryKind.SHARED)
    assert shared.kind is ep.MemoryKind.SHARED
    shared.close()
    device.allocate(4, ep.MemoryKind.SHARED).close()
    device.allocate(4).close()
    assert kinds == [ep.MemoryKind.DEVICE, ep.MemoryKind.SHARED]
    with pytest.raises(ep.UnsupportedError, match=r"manual:0 has no memory of kind PINNED; there is DEVICE, SHARED"):
        device.allocate(4, ep.MemoryKind.PINNED)
    with pytest.raises(TypeError, match="kind 'shared' is not a MemoryKind"):
        device.allocate(4, "shared")


def test_figures_follow_what_is_open_closed_and_given_back(wide):
    first, second = wide.allocate(64), wide.allocate(1000)
    assert wide.memory_info() == ep.MemoryInfo(1 << 20, None, 64 + 1024, 64 + 1024, 64 + 1024, 0, 2, None, 0)
    second.close()
    assert wide.memory_info() == ep.MemoryInfo(1 << 20, None, 64, 64 + 1024, 64 + 1024, 0, 2, None, 0)
    assert wide.trim() == 1024
    assert wide.memory_info() == ep.MemoryInfo(1 << 20, None, 64, 64, 64 + 1024, 0, 2, None, 0)
    assert wide.trim() == 0
    first.close()
    wide.allocate(60).close()
    assert wide.memory_info() == ep.MemoryInfo(1 << 20, None, 0, 64, 64 + 1024, 1, 2, None, 0)
    assert wide.twin.in_use == 64
    wide.close()
    assert wide.twin.in_use == 0


def test_memory_info_asks_the_provider(device):
    assert device.memory_info()[:2] == (None, None)
    device.twin.memory_info = lambda: (1000, 300)
    assert device.memory_info()[:2] == (1000, 300)
    device.close()
    for question in (device.memory_info, device.trim, lambda: setattr(device, "budget", 1)):
        with pytest.raises(ep.ClosedError):
            question()


def test_no_more_is_reserved_than_twice_the_peak(device):
    rng = np.random.default_rng(5)
    held = []
    for _ in range(3000):
        if held and rng.random() < 0.5:
            held.pop(int(rng.integers(len(held)))).close()
        else:
            held.append(device.allocate(int(2 ** rng.uniform(0, 16))))
        info = device.memory_info()
        assert info.reserved <= 2 * info.peak
        assert info.reserved == device.twin.in_use
    assert device.memory_info().hits > 500


@pytest.mark.parametrize("is_old_first", [True, False])
def test_what_was_not_used_for_long_goes_first(device, is_old_first):
    old, new = [device.allocate(8) for _ in range(4)], [device.allocate(16)]
    for memory in old + new if is_old_first else new + old:
        memory.close()
    for _ in range(10):
        device.allocate(16).close()
    device.budget = 64
    assert device.allocate(32).nbytes == 32
    assert [len(handle) for handle in device.twin.freed] == [8, 8]
    assert device.allocate(16).nbytes == 16
    assert device.memory_info().hits == 11


def test_pool_knows_no_more_segments_and_lengths_than_are_of_use(wide):
    stream = wide.stream()
    for _ in range(50):
        stream.free(stream.allocate(100))
    wide.trim()
    assert len(wide._heap.pool._segments) == 0
    for nbytes in range(1, 5000):
        wide.allocate(nbytes).close()
        wide.trim()
    assert len(wide._heap.pool._by_request[ep.MemoryKind.DEVICE]) <= 4096


def test_memory_that_a_stream_takes_again_asks_for_few_events_and_does_not_pile_up(device, stream, monkeypatch):
    drains, waiting = [], []
    drain = device._retired.drain
    monkeypatch.setattr(device._retired, "drain", lambda: (drains.append(1), drain()))
    for _ in range(640):
        stream.free(stream.allocate(4))
        waiting.append(len(device._retired))
    assert 1 <= len(drains) <= 12
    assert max(waiting) <= 5 * 64
    assert figures(device)[1] == 4
