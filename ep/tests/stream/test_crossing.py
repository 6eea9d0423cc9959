"""What streams, devices and threads do while others are closed: nothing is lost, freed early, or another's error."""

from __future__ import annotations

import threading

import manual
import pytest
from ep.ground.waiting import sleep, wait_until
from ep.plugin.ending import end
from ep.stream import verbs
from ep.stream.worker import leave

import ep

DEADLINE = 20.0


@pytest.fixture
def worker(device):
    """Return an asynchronous stream whose work a thread does."""
    return device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))


def test_fence_that_is_recorded_while_the_stream_is_closed_is_reached(device, worker):
    memory = device.allocate(4)
    worker.upload(memory, b"abcd")
    record, events = worker.twin.record, []
    closer = threading.Thread(target=worker.close)

    def late(*, timed):
        closer.start()
        closer.join(0.2)
        events.append(record(timed=timed))
        return events[0]

    worker.twin.record = late
    worker._fence()
    closer.join(DEADLINE)
    wait_until(events[0].is_done, DEADLINE, "fence", sleep)


def test_work_that_comes_behind_the_end_is_refused(worker):
    worker.close()
    with pytest.raises(ep.ClosedError, match=r"record: .* was closed"):
        leave(type(worker)._submit, worker, "record", (), (False,), verbs.record)


@pytest.mark.parametrize("closed", [0, 1])
def test_copy_through_the_host_outlives_memory_that_was_closed_behind_it(provider, closed):
    first, second = provider.devices()
    stream = first._enlist(first._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    ours, theirs = first.allocate(4), second.allocate(4)
    handles = ours.handle, theirs.handle
    handles[1 - closed][:] = b"abcd"
    go = threading.Event()
    stream.call(lambda: go.wait(DEADLINE))
    stream.copy(*((ours, theirs) if not closed else (theirs, ours)))
    theirs.close()
    go.set()
    stream.synchronize(DEADLINE)
    assert bytes(handles[closed]) == b"abcd"
    assert first.degraded["copy-between-devices"] == 1


def test_device_is_not_closed_before_other_devices_are_done_with_its_memory(provider, monkeypatch):
    monkeypatch.setattr(manual.ManualDevice, "can_copy_from", lambda *_: True)
    first, second = provider.devices()
    source, target = first.allocate(4), second.allocate(4)
    source.handle[:] = b"abcd"
    stream, freed = second.stream(), []
    free = manual.ManualDevice.free
    monkeypatch.setattr(manual.ManualDevice, "free", lambda *all_: (freed.append(stream.twin.queue), free(*all_)))
    stream.copy(target, source)
    source.close()
    first.close()
    assert first.is_closed
    assert bytes(target.handle) == b"abcd"
    assert freed == [[]]


def test_memory_is_kept_for_the_work_of_a_worker_of_another_device(provider, monkeypatch):
    monkeypatch.setattr(manual.ManualDevice, "can_copy_from", lambda *_: True)
    first, second = provider.devices()
    stream = first._enlist(first._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    source, target = second.allocate(4), first.allocate(4)
    go = threading.Event()
    stream.call(lambda: go.wait(DEADLINE))
    stream.copy(target, source)
    source.close()
    second.trim()
    assert second.twin.freed == []
    go.set()
    stream.synchronize(DEADLINE)
    second.trim()
    assert len(second.twin.freed) == 1


def test_allocation_that_waits_for_streams_leaves_their_errors_to_them(device, stream):
    device.twin.limit = 8
    memory = device.allocate(8)
    stream.upload(memory, b"12345678")

    def tell():
        stream.twin.advance()
        del stream.twin.synchronize
        raise ep.DeviceError("broke")

    stream.twin.synchronize = tell
    memory.close()
    assert device.allocate(8).nbytes == 8
    with pytest.raises(ep.DeviceError, match="broke"):
        stream.synchronize()


def test_graph_that_is_closed_in_its_capture_takes_nothing_more(device, stream):
    memory = device.allocate(4)
    with stream.capture() as graph:
        stream.fill(memory, b"a")
        graph.close()
        with pytest.raises(ep.ClosedError, match="it was closed; capture again"):
            stream.fill(memory, b"b")
    with pytest.raises(ep.ClosedError, match="it was closed; capture again"):
        graph.launch(stream)
    memory.close()
    stream.close()
    device.close()


@pytest.mark.parametrize("address", [0, -64, 1 << 63, 1 << 70])
def test_host_memory_is_wrapped_where_there_may_be_some(host, address):
    with pytest.raises(ValueError, match=r"address .* is no place in host memory|needs an integer of at most 64 bits"):
        host.wrap_host(address, 8, owner=host)


@pytest.mark.parametrize("address", ["here", None, 1.5])
def test_host_addresses_are_integers(host, address):
    with pytest.raises(TypeError, match=r"address is .*, needs an integer"):
        host.wrap_host(address, 8, owner=host)


class Posing:
    def __init__(self, device):
        self.device = device


@pytest.mark.parametrize("pose", [lambda d: d.allocate(4), Posing, lambda _: Posing("cpu"), lambda _: None])
def test_what_has_a_device_but_is_no_stream_is_refused_in_words(device, stream, pose):
    memory, spec = device.allocate(4), ep.TensorSpec("int8", (4,))
    negate = manual.Negate(x=spec, out=spec).on(device)
    with stream.capture() as graph:
        negate(stream, x=memory, out=memory)
    step = negate.bind(x=memory, out=memory)
    for use in (step, graph.launch, lambda it: ep.view(bytearray(4), it)):
        with pytest.raises(TypeError, match=r"stream is \w+, needs a Stream"):
            use(pose(device))


def test_closed_memory_is_not_held_any_more(device):
    memory = device.allocate(4)
    memory.close()
    with pytest.raises(ep.ClosedError, match="was to be bound or exported was closed"):
        memory._block.keep()


def test_view_of_an_export_waits_for_its_event(host):
    host.twin.stream_type = manual.WaitingStream
    writer, reader = host.stream(), host.stream()
    memory = host.allocate(4)
    writer.fill(memory, b"a")
    exported = writer.export(memory, ep.TensorSpec("int8", (4,)))
    seen, _ = ep.view(exported, reader)
    assert reader.twin.waits == [exported.event]
    assert seen.handle is memory.handle


def test_ctrl_c_at_the_end_is_the_last_wait_for_all_streams(provider):
    class Endless(manual.PollingStream):
        def is_idle(self):
            self.questions += 1
            if self.questions == 1 and self.interrupt:
                raise self.interrupt
            if self.questions > 50:
                raise AssertionError("it is waited for")
            return False

    device = provider.devices()[0]
    device.twin.stream_type = Endless
    first, second = device.stream(), device.stream()
    first.twin.interrupt = KeyboardInterrupt()
    with pytest.warns(RuntimeWarning, match="the process ends although work of"):
        end([device])
    assert second.twin.questions == 1
    device.twin.stream_type = manual.ManualStream
    first.is_closed = second.is_closed = True


@pytest.mark.parametrize("thing", [Posing("cpu"), "text", None])
def test_launch_on_what_is_no_stream_is_refused_in_words(device, thing):
    memory, spec = device.allocate(4), ep.TensorSpec("int8", (4,))
    with pytest.raises(TypeError, match=r"stream is \w+, needs a Stream"):
        manual.Negate(x=spec, out=spec).on(device)(thing, x=memory, out=memory)


@pytest.mark.parametrize("can", ["from", "to"])
def test_each_direction_of_a_copy_is_asked_for_under_its_own_name(provider, monkeypatch, can):
    """A device that pulls is not asked to push: what it cannot do passes through the host."""
    monkeypatch.setattr(manual.ManualDevice, f"can_copy_{can}", lambda *_: True)
    first, second = provider.devices()
    stream = first.stream()
    ours, theirs = first.allocate(4), second.allocate(4)
    assert (first.can_copy_from(second), first.can_copy_to(second)) == (can == "from", can == "to")
    for way, dst, src in (("from", ours, theirs), ("to", theirs, ours)):
        before = first.degraded["copy-between-devices"]
        src.handle[:] = way.ljust(4).encode()
        stream.copy(dst, src)
        stream.synchronize(DEADLINE)
        assert bytes(dst.handle) == way.ljust(4).encode()
        assert first.degraded["copy-between-devices"] - before == (way != can)
    assert first.can_copy_to(first)
