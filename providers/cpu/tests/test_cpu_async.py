"""Asynchronous CPU streams: verbs return at once, the work is in order, errors say whose they are."""

import threading

import numpy as np
import pytest
from ep_primitives import ElementwiseUnary

import ep

DEADLINE = 20.0


@pytest.fixture
def gate(device):
    """An event of another stream that is not done before the gate is opened."""
    opened = threading.Event()
    stream = device.stream(synchronous=False)
    stream.call(lambda: opened.wait(DEADLINE))
    event = stream.record()
    yield opened, event
    opened.set()
    stream.close()


@pytest.fixture
def queue(device):
    stream = device.stream(synchronous=False)
    yield stream
    stream.close()


def test_verbs_return_before_their_work_is_done(device, queue, gate):
    opened, event = gate
    memory, result = device.allocate(64), bytearray(64)
    queue.fill(memory, b"a")
    queue.synchronize()
    queue.wait(event)
    queue.fill(memory, b"b")
    queue.download(result, memory)
    later = queue.record()
    assert not later.is_done
    assert not queue.is_idle
    assert bytes(memory.host()) == b"a" * 64
    opened.set()
    queue.synchronize(DEADLINE)
    assert later.is_done
    assert queue.is_idle
    assert result == b"b" * 64
    memory.close()


def test_launches_run_in_order_with_copies(device, queue, gate):
    opened, event = gate
    negate = ElementwiseUnary.infer("negative", ep.TensorSpec("float32", (1000,))).on(device)
    x = np.arange(1000, dtype=np.float32)
    out = np.empty_like(x)
    one, other = device.allocate(4000), device.allocate(4000)
    step = negate.bind(x=other, out=one)
    queue.wait(event)
    queue.upload(one, x)
    negate(queue, x=one, out=other)
    step(queue)
    negate(queue, x=one, out=other)
    queue.download(out, other)
    opened.set()
    queue.synchronize(DEADLINE)
    np.testing.assert_array_equal(out, -x)
    step.close()
    one.close()
    other.close()


def test_memory_closed_behind_enqueued_work_is_kept_for_it(device, queue, gate):
    opened, event = gate
    memory, result = device.allocate(1 << 16), bytearray(1 << 16)
    queue.wait(event)
    queue.fill(memory, b"k")
    queue.download(result, memory)
    memory.close()
    others = [device.allocate(1 << 16) for _ in range(4)]
    for other in others:
        np.frombuffer(other.host(), np.uint8)[:] = 0xEE
    opened.set()
    queue.synchronize(DEADLINE)
    assert result == b"k" * (1 << 16)
    for other in others:
        other.close()


def test_synchronous_stream_waits_for_the_event_of_an_asynchronous_one(device, stream, queue, gate):
    opened, event = gate
    memory = device.allocate(8)
    queue.wait(event)
    queue.fill(memory, b"q")
    done = queue.record()
    threading.Timer(0.05, opened.set).start()
    stream.wait(done)
    assert bytes(memory.host()) == b"q" * 8
    memory.close()


def test_error_is_raised_once_with_op_stream_and_sequence(device, queue, monkeypatch):
    memory, result = device.allocate(8), bytearray(8)
    queue.fill(memory, b"x")
    queue.synchronize()
    monkeypatch.setattr(type(queue._lane), "_fill", _fail)
    queue.fill(memory, b"y")
    queue.download(result, memory)
    with pytest.raises(ep.DeviceError, match="broken") as caught:
        queue.synchronize()
    assert (caught.value.op, caught.value.stream, caught.value.sequence) == ("fill", queue.name, 2)
    queue.synchronize()
    assert result == b"x" * 8
    memory.close()


def test_timed_events_of_both_modes_share_the_clock(device, stream, queue):
    first = stream.record(timed=True)
    second = queue.record(timed=True)
    queue.synchronize()
    third = stream.record(timed=True)
    assert second.seconds_since(first) > 0
    assert third.seconds_since(second) > 0


def test_dropped_stream_finishes_its_work(device, gate):
    opened, event = gate
    memory, result = device.allocate(8), bytearray(8)
    queue = device.stream(synchronous=False)
    queue.wait(event)
    queue.fill(memory, b"d")
    queue.download(result, memory)
    del queue
    opened.set()
    device.synchronize()
    assert result == b"d" * 8
    memory.close()


def _fail(*_):
    raise ep.DeviceError("broken", provider="cpu", call="fill", code=1)
