"""Asynchronous CPU streams: verbs return at once, work runs in order, errors name their operation."""

import threading
import time
import weakref

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
    monkeypatch.setattr(type(queue.twin._lane), "fill", _fail)
    queue.fill(memory, b"y")
    queue.download(result, memory)
    with pytest.raises(ep.DeviceError, match="broken") as caught:
        queue.synchronize()
    assert (caught.value.op, caught.value.stream, caught.value.sequence) == ("fill", queue.name, 2)
    queue.synchronize()
    assert result == bytes(8)  # after the failure no later work was started
    queue.download(result, memory)
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


def _fail(*_, **__):
    raise ep.DeviceError("broken", provider="cpu", call="fill", code=1)


def test_first_of_several_errors_is_raised_and_later_work_is_not_started(device, queue, monkeypatch):
    memory, result, fill = device.allocate(8), bytearray(8), type(queue.twin._lane).fill

    def fail_on(lane, dst, pattern):
        if pattern in {b"1", b"2"}:
            raise ep.DeviceError(pattern.decode())
        fill(lane, dst, pattern)

    monkeypatch.setattr(type(queue.twin._lane), "fill", fail_on)
    for pattern in (b"0", b"1", b"2", b"3"):
        queue.fill(memory, pattern)
    queue.download(result, memory)
    with pytest.raises(ep.DeviceError, match="1") as caught:
        queue.synchronize(DEADLINE)
    assert caught.value.sequence == 2
    assert result == bytes(8)
    queue.download(result, memory)
    queue.synchronize(DEADLINE)
    assert result == b"0" * 8
    memory.close()


def test_error_that_is_no_device_error_has_its_place_in_a_note(device, queue, monkeypatch):
    memory = device.allocate(8)
    monkeypatch.setattr(type(queue.twin._lane), "fill", lambda *_: {}["missing"])
    queue.fill(memory, b"x")
    with pytest.raises(KeyError, match="missing") as caught:
        queue.synchronize(DEADLINE)
    assert caught.value.__notes__ == [f"enqueue 1 of {queue.name}: fill"]
    queue.synchronize(DEADLINE)
    memory.close()


def test_dropped_streams_error_is_a_warning(device, gate, monkeypatch):
    opened, event = gate
    memory = device.allocate(8)
    stream = device.stream(synchronous=False)
    monkeypatch.setattr(type(stream.twin._lane), "fill", _fail)
    stream.wait(event)
    stream.fill(memory, b"x")
    name = stream.name
    del stream
    opened.set()
    with pytest.warns(RuntimeWarning, match=f"{name}: work failed and nobody waited for it: DeviceError: broken"):
        device.synchronize()
    memory.close()


def test_worker_ends_with_its_stream(device):
    stream = device.stream(synchronous=False)
    worker = stream.twin._thread
    stream.close()
    assert not worker.is_alive()


def test_last_reference_may_go_in_the_worker_itself(device):
    """The function alone keeps the stream, and the worker drops the function."""
    ended = threading.Event()

    class Tail:
        def __del__(self):
            ended.set()

    stream = device.stream(synchronous=False)
    worker = stream.twin._thread
    held = [stream, Tail()]
    stream.call(held.clear)
    del stream
    assert ended.wait(DEADLINE)
    device.synchronize(DEADLINE)
    worker.join(DEADLINE)
    assert not worker.is_alive()


def test_idle_worker_keeps_no_memory_and_no_host_buffer(device, queue):
    class Buffer(bytearray):
        pass

    memory, source = device.allocate(8), Buffer(8)
    references = weakref.ref(memory), weakref.ref(source)
    queue.upload(memory, source)
    queue.synchronize(DEADLINE)
    del memory, source
    assert [reference() for reference in references] == [None, None]


def test_rest_costs_no_processor_time(device, queue, gate):
    """A worker with nothing to do, one that waits for another, and a host that waits sleep."""
    opened, event = gate
    queue.wait(event)
    begin = time.process_time()
    with pytest.raises(ep.TimeoutError):
        queue.synchronize(timeout=0.5)
    assert time.process_time() - begin < 0.25
    opened.set()


def test_many_threads_fences_and_streams_end_with_equal_counts(device):
    """Other threads' drains record fences on each stream while it is used: no count is lost, so that idleness is told."""
    stop, failures = threading.Event(), []

    def allocate():
        while not stop.is_set():
            device.allocate(64).close()

    def work():
        try:
            stream, memory, result = device.stream(synchronous=False), device.allocate(256), bytearray(256)
            for step in range(300):
                stream.fill(memory, bytes([step % 256]))
                if step % 50 == 49:
                    stream.download(result, memory)
                    stream.synchronize(DEADLINE)
                    assert result == bytes([step % 256]) * 256
            memory.close()
            stream.close()
        except BaseException as error:  # noqa: BLE001 - the test's own thread looks at it
            failures.append(error)

    others = [threading.Thread(target=allocate) for _ in range(2)]
    users = [threading.Thread(target=work) for _ in range(3)]
    for thread in (*others, *users):
        thread.start()
    for thread in users:
        thread.join(60)
    stop.set()
    for thread in others:
        thread.join(60)
    assert failures == []


def test_event_that_could_not_be_recorded_is_done_and_has_no_time(device, queue, monkeypatch):
    first = queue.record(timed=True)
    queue.synchronize(DEADLINE)
    monkeypatch.setattr(type(queue.twin._lane), "record", _fail)
    second = queue.record(timed=True)
    with pytest.raises(ep.DeviceError, match="broken"):
        queue.synchronize(DEADLINE)
    assert second.is_done
    with pytest.raises(ValueError, match="was not recorded"):
        second.seconds_since(first)


def test_priority_has_no_effect(device):
    assert "priority" not in device.info.features
    stream = device.stream(priority=7, synchronous=False)
    stream.close()
