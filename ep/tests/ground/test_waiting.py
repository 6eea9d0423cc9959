"""How the host waits: in short slices, no longer than it was told to, and interruptible."""

from __future__ import annotations

import threading

import manual
import pytest
from ep.ground.waiting import sleep, wait_until

import ep


class Clock:
    """Time that passes only by being looked at and slept through."""

    def __init__(self):
        self.now = 1000.0
        self.slices = []

    def monotonic(self):
        self.now += 1e-6
        if self.now > 5000:
            pytest.fail("waits for ever")
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.slices.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr("ep.ground.waiting.time", made)
    return made


@pytest.mark.parametrize("timeout", [0, 1e-5, 0.003, 0.2, 7])
def test_wait_ends_with_a_timeout_error_when_the_time_is_over(clock, timeout):
    begin = clock.now
    with pytest.raises(ep.TimeoutError, match=f"look: not done after {timeout} s"):
        wait_until(lambda: False, timeout, "look", sleep)
    assert timeout <= clock.now - begin <= timeout * 1.01 + 1e-4


@pytest.mark.parametrize("timeout", [None, 100])
def test_slices_are_short_and_grow(clock, timeout):
    end = clock.now + 30
    wait_until(lambda: clock.now > end, timeout, "look", sleep)
    assert max(clock.slices) <= 0.05
    assert clock.slices == sorted(clock.slices)
    assert clock.slices[0] < 1e-4
    assert len(clock.slices) < 1000


def test_wait_ends_soon_after_the_work_does(clock):
    begin = clock.now
    wait_until(lambda: clock.now > begin + 0.01, None, "look", sleep)
    assert clock.now - begin < 0.012


def test_pause_that_wakes_the_host_is_long(clock):
    begin = clock.now

    def pause(seconds):
        clock.sleep(min(seconds, begin + 0.04 - clock.now))

    wait_until(lambda: clock.now >= begin + 0.04, None, "look", pause, wakes=True)
    assert clock.now - begin < 0.0401
    assert len([each for each in clock.slices if each > 1e-3]) == 1
    with pytest.raises(ep.TimeoutError):
        wait_until(lambda: False, 0.2, "look", clock.sleep, wakes=True)
    assert max(clock.slices) <= 0.05


def test_done_work_is_not_waited_for(clock):
    wait_until(lambda: True, 0, "look", sleep)
    assert clock.slices == []


def test_timeout_error_is_the_builtin_too(clock):
    with pytest.raises(TimeoutError):
        wait_until(lambda: False, 0, "look", sleep)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "1", 10**400, 1e300, -float("inf")])
def test_timeout_that_is_no_time_is_refused(device, stream, timeout):
    for wait in (stream.synchronize, device.synchronize, stream.record().synchronize):
        with pytest.raises(ValueError, match="is not a number of seconds"):
            wait(timeout=timeout)


@pytest.fixture
def polling(device):
    device.twin.stream_type = manual.PollingStream
    return device.stream()


@pytest.fixture
def must(device):
    """Return a stream of a provider that writes nothing but what it must."""
    device.twin.stream_type = manual.MustStream
    return device.stream()


def copies(device, stream):
    """Say whether the stream still copies bytes there and back, once what is enqueued is done."""
    memory, back = device.allocate(4), bytearray(4)
    stream.upload(memory, b"abcd")
    stream.download(back, memory)
    if isinstance(stream.twin, manual.PollingStream):
        stream.twin.advance()
    stream.synchronize()
    return back == b"abcd"


def test_polling_stream_is_waited_for_as_long_as_asked_and_usable_afterwards(device, polling, clock):
    memory = device.allocate(4)
    polling.upload(memory, b"wxyz")
    begin = clock.now
    with pytest.raises(ep.TimeoutError, match=r"manual:0/stream0\.synchronize: not done after 3 s"):
        polling.synchronize(timeout=3)
    assert 3 <= clock.now - begin < 3.1
    assert len(polling._progress.held) == 1
    polling.twin.advance()
    polling.synchronize(timeout=3)
    assert bytes(memory.handle) == b"wxyz"
    assert copies(device, polling)


def test_stream_that_cannot_be_polled_is_waited_for_as_long_as_asked_and_usable_afterwards(device, must, clock):
    memory = device.allocate(4)
    must.twin.gate.clear()
    must.upload(memory, b"wxyz")
    begin = clock.now
    with pytest.raises(ep.TimeoutError, match="not done after 3 s"):
        must.synchronize(timeout=3)
    assert 3 <= clock.now - begin < 3.1
    assert len(must.twin.queue) == 1
    must.twin.gate.set()
    must.synchronize()
    assert bytes(memory.handle) == b"wxyz"
    assert copies(device, must)


def test_event_is_waited_for_as_long_as_asked_and_usable_afterwards(device, stream, clock):
    stream.upload(device.allocate(4), b"abcd")
    event = stream.record()
    begin = clock.now
    with pytest.raises(ep.TimeoutError, match="not done after 3 s"):
        event.synchronize(timeout=3)
    assert 3 <= clock.now - begin < 3.1
    stream.twin.advance()
    event.synchronize(timeout=3)


def test_device_passes_the_timeout_on_to_its_streams(device, polling, clock):
    polling.upload(device.allocate(4), b"abcd")
    begin = clock.now
    with pytest.raises(ep.TimeoutError, match=r"stream0\.synchronize: not done after \S+ s"):
        device.synchronize(timeout=3)
    assert 2.9 < clock.now - begin < 3.1
    polling.twin.advance()
    device.synchronize(timeout=3)


def test_error_of_a_wait_beside_is_raised(device, must):
    def fail():
        raise ep.DeviceError("boom")

    must.twin.queue.append(fail)
    with pytest.raises(ep.DeviceError, match="boom"):
        must.synchronize(timeout=60)
    assert copies(device, must)


def test_interrupted_wait_keeps_what_the_work_needs(device, polling):
    memory = device.allocate(4)
    polling.upload(memory, b"abcd")
    polling.twin.interrupt = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        polling.synchronize()
    assert len(polling._progress.held) == 1
    polling.twin.advance()
    polling.synchronize()
    assert len(polling._progress.held) == 0
    assert copies(device, polling)


def test_interrupted_event_wait_leaves_the_event_usable(device, stream, monkeypatch):
    stream.upload(device.allocate(4), b"abcd")
    event = stream.record()

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(manual.ManualEvent, "is_done", interrupt)
        with pytest.raises(KeyboardInterrupt):
            event.synchronize()
    assert not event.is_done
    stream.twin.advance()
    event.synchronize()


def test_default_record_waits_for_the_work_before_it(device, must):
    memory = device.allocate(4)
    must.upload(memory, b"abcd")
    event = must.record()
    assert bytes(memory.handle) == b"abcd"
    assert event.is_done
    assert device.degraded["event"] == 1


def test_default_fence_waits_before_bytes_are_freed(device, must):
    memory = device.allocate(4)
    handle = memory.handle
    must.upload(memory, b"abcd")
    memory.close()
    device.trim()
    assert device.twin.freed == [handle]
    assert bytes(handle) == b"abcd"


def test_default_idle_answer_waits(device, must):
    memory = device.allocate(4)
    must.upload(memory, b"abcd")
    assert must.is_idle
    assert bytes(memory.handle) == b"abcd"


class CountingEvent(ep.spi.Event):
    """Done when it has been asked often enough."""

    left = 4

    def is_done(self):
        self.left -= 1
        return self.left <= 0


def test_default_wait_lets_the_host_wait_for_an_event_of_its_device(device, must):
    event = ep.Event(device.stream(), CountingEvent(), is_timed=False)
    must.wait(event)
    assert event.twin.left == 0
    assert device.degraded["wait"] == 1


def test_event_of_another_device_is_waited_for_by_the_host(provider, must):
    event = ep.Event(provider.devices()[1].stream(), CountingEvent(), is_timed=False)
    must.wait(event)
    assert event.twin.left == 0
    assert must.device.degraded["wait"] == 1


def test_event_of_the_same_stream_is_not_waited_for(device, must):
    event = ep.Event(must, CountingEvent(), is_timed=False)
    must.wait(event)
    assert event.twin.left == 4


@pytest.mark.parametrize("place", [0, 1], ids=["same-device", "other-device"])
def test_waiting_for_failed_work_leaves_the_error_to_its_own_stream(provider, must, place):
    failed = provider.devices()[place].stream()
    event = ep.Event(failed, CountingEvent(), is_timed=False)
    failed.twin.ledger.failed(None, ep.DeviceError("boom"))
    must.wait(event)
    must.synchronize()
    with pytest.raises(ep.DeviceError, match="boom"):
        failed.synchronize()


def test_wait_beside_leaves_no_thread(device, must):
    before = set(threading.enumerate())  # another test's waiter may be about to end
    must.synchronize(timeout=60)
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith(must.name) and thread not in before
    ]
