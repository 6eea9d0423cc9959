"""When memory is short: the budget, what is given back, what is tried again, and what the error says."""

from __future__ import annotations

import manual
import pytest
from manual import figures

import ep


def test_budget_is_kept_and_says_what_there_is(wide):
    wide.budget = 1024
    assert wide.memory_info().budget == wide.budget == 1024
    held = wide.allocate(512)
    other = wide.allocate(256)
    with pytest.raises(ep.OutOfMemoryError, match=r"300 bytes do not fit the budget of 1024; 768 are in use") as caught:
        wide.allocate(300)
    assert (caught.value.requested, caught.value.free, caught.value.reserved) == (300, 256, 768)
    other.close()
    assert wide.allocate(512).nbytes == 512  # what lay ready was given back for it
    wide.budget = None
    more = wide.allocate(1 << 16)
    wide.budget = 100
    assert not held.is_closed
    assert not more.is_closed
    with pytest.raises(ep.OutOfMemoryError):
        wide.allocate(1)
    more.close()
    held.close()
    assert wide.allocate(100).nbytes == 100
    assert wide.memory_info().reserved <= 100


def test_lower_budget_takes_what_lies_ready(wide):
    memories = [wide.allocate(64) for _ in range(4)]
    for memory in memories[:3]:
        memory.close()
    wide.budget = 128
    assert figures(wide)[:2] == (64, 128)
    assert len(wide.twin.freed) == 2


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), (1.5, TypeError), ("1", TypeError)])
def test_budget_that_is_no_number_of_bytes_is_refused(device, wrong, error):
    with pytest.raises(error, match="budget"):
        device.budget = wrong
    assert device.budget is None


def test_budget_waits_for_what_was_closed(device, stream):
    device.budget = 8
    memory = device.allocate(8)
    stream.upload(memory, b"abcdefgh")
    memory.close()
    assert device.allocate(5).nbytes == 5
    assert bytes(device.twin.freed[0]) == b"abcdefgh"


def test_what_lies_ready_never_makes_a_request_fail_that_would_have_fitted(wide):
    wide.twin.limit = 4096
    for nbytes in (64, 512, 1024, 2048):
        wide.allocate(nbytes).close()
    assert wide.memory_info().reserved > 2048
    assert wide.allocate(4096).nbytes == 4096
    assert wide.memory_info().reserved == 4096


def test_length_of_a_segment_never_makes_a_request_fail_that_would_have_fitted(wide):
    wide.twin.limit = 1000  # a segment for it would have 1024
    memory = wide.allocate(1000)
    assert figures(wide)[:2] == (1000, 1000)
    memory.close()
    assert wide.allocate(1000).nbytes == 1000
    wide.trim()
    assert wide.twin.in_use == 0
    with pytest.raises(ep.OutOfMemoryError) as caught:
        wide.allocate(1001)
    assert caught.value.requested == 1001


def test_shortage_waits_for_streams_of_other_devices_too(provider, monkeypatch):
    monkeypatch.setattr(manual.ManualDevice, "can_copy_from", lambda self, other: True)
    first, second = provider.devices()
    first.twin.limit = 8
    memory, target = first.allocate(8), second.allocate(8)
    foreign = second.stream()
    foreign.copy(target, memory)
    memory.close()
    assert first.allocate(8).nbytes == 8
    assert foreign.twin.queue == []


def test_driver_that_has_room_is_not_asked_twice(wide):
    asked = []

    def refuse(nbytes, kind):
        asked.append(nbytes)
        raise ep.OutOfMemoryError("as asked", requested=nbytes, free=1 << 20)

    wide.twin.allocate = refuse
    with pytest.raises(ep.OutOfMemoryError) as caught:
        wide.allocate(1000)
    assert asked == [1024]
    assert caught.value.requested == 1000
    assert figures(wide) == (0, 0, 0, 0)
    assert caught.value.reserved == 0


@pytest.mark.parametrize("n", range(1, 9))
def test_nth_allocation_fails_and_nothing_is_lost(device, stream, n):
    """The n-th call of the driver fails: the request is served by a second one, or its error leaves all as it was."""
    allocate, calls = device.twin.allocate, []

    def failing(nbytes, kind):
        calls.append(nbytes)
        if len(calls) == n:
            raise ep.OutOfMemoryError("injected", requested=nbytes)
        return allocate(nbytes, kind)

    device.twin.allocate = failing
    kept, failures = [], 0
    for nbytes in (4, 8, 4, 16, 32, 8, 64, 4):
        try:
            memory = stream.allocate(nbytes)
        except ep.OutOfMemoryError:
            failures += 1
            memory = device.allocate(nbytes)
        stream.upload(memory, bytes([nbytes]) * nbytes)
        kept.append(memory)
        if nbytes == 8:
            kept.pop().close()
    assert device.memory_info().reserved == device.twin.in_use
    assert failures <= 1
    stream.twin.advance()
    for memory in kept:
        assert bytes(memory.handle) == bytes([memory.nbytes]) * memory.nbytes
        memory.close()
    assert figures(device)[0] == 0
    device.trim()
    assert device.twin.in_use == device.memory_info().reserved == 0


def test_one_that_cannot_be_freed_does_not_lose_the_others(device):
    free, failing = device.twin.free, []
    memories = [device.allocate(4) for _ in range(5)]
    for memory in memories:
        memory.close()

    def once(handle, kind):
        if not failing:
            failing.append(handle)
            raise ep.DeviceError("boom")
        free(handle, kind)

    device.twin.free = once
    with pytest.warns(
        RuntimeWarning, match=r"^manual:0: memory could not be freed, which is said once: DeviceError: boom"
    ):
        assert device.trim() == 20
    assert figures(device)[:2] == (0, 0)
    assert len(device.twin.freed) == 4
