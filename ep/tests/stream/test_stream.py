"""Streams, events and the one door."""

from __future__ import annotations

import os
import threading

import manual
import pytest
from ep.stream import doors

import ep


def test_every_verb_passes_the_door_and_is_numbered(device, stream):
    seen = []

    def spy(onward, stream, what, memories, scalars, run):
        seen.append(str(what))
        return onward(stream, what, memories, scalars, run)

    doors.put(stream, "profile", spy)
    memory, other = device.allocate(4), device.allocate(4)
    stream.upload(memory, b"abcd")
    stream.copy(other, memory)
    stream.fill(memory, b"\1\2")
    stream.download(bytearray(4), other)
    event = device.stream().record()
    stream.wait(event)
    assert seen == ["upload", "copy", "fill", "download", "wait"]
    assert stream._sequence == 5


def test_work_is_done_in_order_when_the_stream_gets_there(device, stream):
    memory, target = device.allocate(4), bytearray(4)
    source = bytearray(b"abcd")
    stream.upload(memory, source)
    stream.download(target, memory)
    assert target == bytes(4)
    source[0] = ord("z")
    stream.synchronize()
    assert target == b"zbcd"


class ForwardStream(manual.ManualStream):
    """Takes the bytes of constant uploads along, as a queue does that does not reach host memory."""

    def upload_constant(self, dst, src, nbytes):
        self.copy(dst, memoryview(bytes(src)), nbytes)


def test_constant_upload_may_be_read_at_once_and_arrives_in_order(device):
    device.twin.stream_type = ForwardStream
    stream = device.stream()
    memory, target = device.allocate(4), bytearray(4)
    source, constant = bytearray(b"abcd"), bytearray(b"efgh")
    stream.upload(memory, source)
    stream.upload(memory[2:4], constant[2:4], constant=True)
    stream.download(target, memory)
    source[:] = constant[:] = b"zzzz"
    stream.synchronize()
    assert target == b"zzgh"


def test_constant_upload_is_a_copy_where_the_provider_has_no_other(device, stream):
    memory, target = device.allocate(4), bytearray(4)
    stream.upload(memory, b"abcd", constant=True)
    stream.download(target, memory)
    assert len(stream._progress.held) == 2
    stream.synchronize()
    assert target == b"abcd"
    assert not any(device.degraded.values())


def test_constant_upload_by_a_worker_is_its_lanes(device):
    class Lane(manual.LaneStream):
        constants = 0

        def upload_constant(self, dst, src, nbytes):
            self.constants += 1
            self.copy(dst, src, nbytes)

    lanes = []

    def worker(ledger, *, is_synchronous, is_timed):
        lanes.append(Lane(ledger, is_timed=is_timed))
        return ep.spi.Worker(lanes[0])

    device.twin.stream_type = worker
    stream = device.stream()
    memory, target = device.allocate(4), bytearray(4)
    stream.upload(memory, b"abcd", constant=True)
    stream.download(target, memory)
    stream.synchronize(60)
    assert target == b"abcd"
    assert lanes[0].constants == 1


def test_constant_upload_is_refused_as_any_other(device, stream):
    memory = device.allocate(4)
    with pytest.raises(ValueError, match="dst has 4 bytes and src has 3"):
        stream.upload(memory, b"abc", constant=True)
    with pytest.raises(TypeError, match="upload: constant is 'no', needs a truth value"):
        stream.upload(memory, b"abcd", constant="no")
    with stream.capture(), pytest.raises(ValueError, match="upload"):
        stream.upload(memory, b"abcd", constant=True)
    assert stream.twin.enqueued == 0


def test_default_fill_is_a_copy_and_counted_as_degraded(device, stream):
    memory, target = device.allocate(8), bytearray(8)
    stream.fill(memory[2:6], b"\1\2")
    stream.download(target, memory)
    stream.synchronize()
    assert target[2:6] == b"\1\2\1\2"
    assert device.degraded["fill"] == 1


@pytest.mark.parametrize(
    ("start", "stop", "pattern", "text"),
    [
        (0, 4, b"abc", "1, 2, 4, 8 or 16"),
        (0, 3, b"ab", "multiples"),
        (1, 5, b"ab", "multiples"),
        (0, 4, b"", "0 bytes"),
    ],
)
def test_fill_refuses_patterns_that_do_not_fit(device, stream, start, stop, pattern, text):
    with pytest.raises(ValueError, match=text):
        stream.fill(device.allocate(8)[start:stop], pattern)
    assert stream.twin.enqueued == 0


def test_copies_of_what_does_not_fit_are_refused(device, stream):
    memory = device.allocate(8)
    with pytest.raises(ValueError, match="dst has 8 bytes and src has 3"):
        stream.upload(memory, b"abc")
    stream.copy(memory[0:4], memory[4:8])
    with pytest.raises(ValueError, match="read-only"):
        stream.download(b"12345678", memory)
    with pytest.raises(TypeError, match="host buffer"):
        stream.upload(memory, 3)
    with pytest.raises(TypeError, match="Memory"):
        stream.upload(b"12345678", memory)
    assert stream.twin.enqueued == 1


def test_copy_between_devices_passes_the_host_and_says_so(provider):
    first, second = provider.devices()
    source, target = first.allocate(4), second.allocate(4)
    reader = first.stream()
    reader.upload(source, b"abcd")
    reader.copy(target, source)
    back, writer = bytearray(4), second.stream()
    writer.download(back, target)
    writer.synchronize()
    assert back == b"abcd"
    assert first.degraded["copy-between-devices"] == 1
    third = first.allocate(4)
    with pytest.raises(ValueError, match="one must be on manual:1"):
        writer.copy(third, source)


def test_host_buffers_are_kept_until_their_copy_is_done(device, stream):
    memory = device.allocate(4)
    for _ in range(40):
        stream.upload(memory, bytearray(4))
    assert len(stream._progress.held) == 40
    stream.twin.advance()
    stream.upload(memory, bytearray(4))
    assert len(stream._progress.held) < 40
    stream.synchronize()
    assert len(stream._progress.held) == 0


def test_events_are_points_that_never_move(device, stream):
    memory = device.allocate(4)
    before = stream.record(timed=True)
    stream.upload(memory, b"abcd")
    after = stream.record(timed=True)
    assert (before.is_done, after.is_done) == (True, False)
    with pytest.raises(ValueError, match="this event is not done"):
        after.seconds_since(before)
    with pytest.raises(ep.TimeoutError):
        after.synchronize(timeout=0.01)
    stream.twin.advance()
    assert after.seconds_since(before) == pytest.approx(1e-3)
    with pytest.raises(ValueError, match="untimed"):
        after.seconds_since(stream.record())


def test_seconds_between_devices_are_refused(provider):
    first, second = (found.stream().record(timed=True) for found in provider.devices())
    with pytest.raises(ValueError, match="clocks differ"):
        second.seconds_since(first)


def test_timed_event_on_an_untimed_stream_is_refused(device):
    with pytest.raises(ValueError, match="timed=True"):
        device.stream(timed=False).record(timed=True)


def test_closed_stream_refuses_everything(device, stream):
    memory = device.allocate(4)
    stream.upload(memory, b"abcd")
    stream.close()
    stream.close()
    assert stream.twin.closed
    assert bytes(memory.handle) == b"abcd"
    for use in (lambda: stream.upload(memory, b"abcd"), stream.record, stream.synchronize, lambda: stream.is_idle):
        with pytest.raises(ep.ClosedError, match="was closed"):
            use()


def test_asynchronous_error_surfaces_at_the_next_synchronisation_once(device, stream):
    stream.twin.ledger.failed(None, ep.DeviceError("boom"))
    with pytest.raises(ep.DeviceError, match="boom"):
        stream.synchronize()
    stream.synchronize()


def test_device_error_names_the_enqueue(device, stream):
    def fail(*_):
        raise ep.DeviceError("boom", provider="manual", call="doIt", code=-5)

    with pytest.raises(ep.DeviceError, match=r"doIt -> -5.*enqueue 1 of manual:0/stream\d+: upload") as caught:
        stream._submit("upload", (), (), fail)
    assert (caught.value.op, caught.value.sequence) == ("upload", 1)


def test_device_with_children_does_not_close(device, stream):
    memory = device.allocate(4)
    with pytest.raises(ep.EpError, match=r"manual:0/stream0, 1 memory of 4 bytes"):
        device.close()
    stream.close()
    memory.close()
    device.close()
    with pytest.raises(ep.ClosedError):
        device.allocate(1)


def test_closed_device_is_opened_again_by_name(provider):
    first, second = provider.devices()
    first.close()
    again = provider.devices()
    assert again[0] is not first
    assert again[1] is second
    assert again[0].name == "manual:0"


def test_objects_made_before_fork_refuse_in_the_child(device, stream):
    memory = device.allocate(4)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        answers = []
        for use in (lambda: device.allocate(1), lambda: stream.upload(memory, b"abcd"), device.stream):
            try:
                use()
            except ep.ClosedError as error:
                answers.append("fork" in str(error))
        os.write(write, b"ok" if answers == [True, True, True] else b"no")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 2) == b"ok"


def test_provider_is_told_which_operation_is_under_way(device, stream, monkeypatch):
    told, copy, launch = [], manual.ManualStream.copy, manual.NegateKernel.launch

    def tell(stream):
        told.append((stream.ledger.what, stream.ledger.sequence))

    monkeypatch.setattr(manual.ManualStream, "copy", lambda self, *rest: (tell(self), copy(self, *rest))[1])
    monkeypatch.setattr(
        manual.NegateKernel, "launch", lambda self, stream, *rest: (tell(stream), launch(self, stream, *rest))[1]
    )
    spec, memory = ep.TensorSpec("int8", (4,)), device.allocate(4)
    negate = manual.Negate(x=spec, out=spec).on(device)
    stream.upload(memory, b"abcd")
    negate(stream, x=memory, out=memory)
    step = negate.bind(x=memory, out=memory)
    step(stream)
    stream.fill(memory, b"a")
    assert told == [("upload", 1), (str(negate), 2), (str(negate), 3), ("fill", 4)]
    step.close()


def test_stream_for_which_there_is_no_thread_is_a_sentence(monkeypatch):
    device = ep.device("cpu:0")

    def refuse(_):
        message = "can't start new thread"
        raise RuntimeError(message)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(ep.DeviceError, match=r"no thread for an asynchronous stream .*; close streams"):
            device.stream(synchronous=False)
    device.stream(synchronous=False).close()
