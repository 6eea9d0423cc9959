"""EP_VALIDATE=1: one thread at a time, and the line that enqueued what failed; nothing of it where it is off."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref

import manual
import pytest

import ep


def test_second_thread_inside_of_a_verb_is_refused_and_the_first_goes_on(device, watched, monkeypatch):
    memory, inside, leave = device.allocate(4), threading.Event(), threading.Event()

    def copy(self, *_):
        inside.set()
        assert leave.wait(20)

    def slow():
        monkeypatch.setattr(manual.ManualStream, "copy", copy)
        monkeypatch.setattr(ep.spi.Worker, "place", copy)
        watched.upload(memory, b"abcd")

    thread = threading.Thread(target=slow)
    with monkeypatch.context():
        thread.start()
        assert inside.wait(20)
        with pytest.raises(ValueError, match=rf"record: {watched.name} is in use by another thread"):
            watched.record()
        leave.set()
        thread.join(20)
    monkeypatch.undo()
    watched.record()


def test_stream_may_change_hands(device, watched):
    memory = device.allocate(4)
    watched.upload(memory, b"abcd")
    thread = threading.Thread(target=watched.upload, args=(memory, b"efgh"))
    thread.start()
    thread.join(20)
    watched.upload(memory, b"ijkl")
    watched.synchronize()
    assert bytes(memory.handle) == b"ijkl"


def fail(*_, **__):
    raise ep.DeviceError("broken")


def test_error_says_which_line_enqueued_the_work(device, watched, monkeypatch):
    memory = device.allocate(4)
    monkeypatch.setattr(manual.ManualStream, "copy", fail)
    monkeypatch.setattr(manual.LaneStream, "copy", fail)
    with pytest.raises(ep.DeviceError, match=r"broken .*test_validation\.py:\d+") as caught:  # noqa: PT012 - either raises
        line = inspect.currentframe().f_lineno + 1
        watched.upload(memory, b"abcd")
        watched.synchronize()
    assert (caught.value.file, caught.value.line) == (__file__, line)


def test_launch_inside_of_a_call_is_refused(device, watched):
    spec = ep.TensorSpec("int8", (4,))
    x, out = device.allocate(4), device.allocate(4)
    step = manual.Negate(x=spec, out=spec).on(device).bind(x=x, out=out)
    watched.call(lambda: step(watched))
    with pytest.raises(ValueError, match="given to call"):
        watched.synchronize()
    step.close()


def test_nothing_is_in_the_way_where_it_is_off(stream, monkeypatch):
    monkeypatch.delenv("EP_VALIDATE", raising=False)
    assert "_submit" not in vars(stream)
    assert "_submit" not in vars(stream.device.stream())


@pytest.mark.parametrize("validates", ["0", "1"])
def test_dropped_stream_ends_with_its_last_user(device, monkeypatch, validates):
    """No door makes a stream refer to itself."""
    monkeypatch.setenv("EP_VALIDATE", validates)
    gc.disable()
    try:
        stream = device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
        stream.upload(device.allocate(4), b"abcd")
        stream.synchronize()
        worker, reference = stream.twin._thread, weakref.ref(stream)
        del stream
        device.synchronize()
        worker.join(20)
        assert not worker.is_alive()
        assert reference() is None
    finally:
        gc.enable()
