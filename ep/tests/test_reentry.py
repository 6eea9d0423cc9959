"""A handler or finalizer that uses EP, and Ctrl-C, at every place of every verb: nothing half done shows, nothing is lost."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest
from ep.ground.callback import _HERE
from ep_primitives import BroadcastBinary
from interruptions import everywhere

import ep

SIZE = 64
STEP = int(os.environ.get("EP_STEP", "31"))  # make attack sets 1: every place
PROVIDERS = ("cpu", "opencl", "sim")
MODES = {"synchronous": True, "asynchronous": False}


class Program:
    """Every verb once, on a stream and on the device, with a look at what comes out."""

    def __init__(self, device, stream):
        self.device, self.stream = device, stream
        spec = ep.TensorSpec("float32", (SIZE,))
        self.add = BroadcastBinary.infer("add", spec, spec).on(device)
        self.x = np.arange(SIZE, dtype=np.float32)
        self.calls = 0

    def count(self):
        self.calls += 1

    def __call__(self):
        device, stream = self.device, self.stream
        a, b, out = device.allocate(4 * SIZE), stream.allocate(4 * SIZE), device.allocate(4 * SIZE)
        stream.upload(a, self.x)
        stream.copy(b, a)
        self.add(stream, a=a, b=b, out=out)
        first = self.read(out)
        stream.wait(stream.record())
        stream.call(self.count)
        step = self.add.bind(a=out, b=b, out=out)
        b.close()
        step(stream)
        stream.free(a)
        again = stream.allocate(4 * SIZE)
        stream.fill(again, b"\1")
        second, filled = self.read(out), self.read(again)
        step.close()
        assert (first == 2 * self.x).all(), first[:4]
        assert (second == 3 * self.x).all(), second[:4]
        assert (filled.view(np.uint8) == 1).all(), filled[:4]

    def read(self, memory):
        back = np.empty(SIZE, np.float32)
        self.stream.download(back, memory)
        self.stream.synchronize()
        return back


class Recording(Program):
    """A graph of two streams' work, launched on both."""

    def __init__(self, device, stream):
        super().__init__(device, stream)
        self.other = device.stream(synchronous=stream.twin.is_synchronous)

    def __call__(self):
        device, stream, other = self.device, self.stream, self.other
        a, b, out = device.allocate(4 * SIZE), device.allocate(4 * SIZE), device.allocate(4 * SIZE)
        stream.upload(a, self.x)
        with stream.capture() as graph:
            self.add(stream, a=a, b=a, out=b)
            other.wait(stream.record())
            self.add(other, a=a, b=b, out=out)
            stream.wait(other.record())
        graph.slot("x", a)
        for each in (stream, other):
            graph.launch(each, x=a)
            each.synchronize()
        assert (self.read(out) == 3 * self.x).all()
        graph.close()


class Checkpoint:
    """What a handler that saves a program's state does, on the stream that it interrupts and on one of its own."""

    def __init__(self, device, stream, add, mode):
        self.device, self.stream, self.add, self.mode = device, stream, add, mode
        self.count = 0

    def __call__(self):
        self.count += 1
        if _HERE.is_calling:  # it came in a function that a synchronous stream calls, where EP is not to be used
            with pytest.raises(ValueError, match="not inside a function given to call"):
                self.save(self.stream)
            return
        self.save(self.stream)
        own = self.device.stream(synchronous=self.mode)
        self.save(own)
        own.close()

    def save(self, stream):
        a, b, out = (self.device.allocate(4 * SIZE) for _ in range(3))
        x, back = np.full(SIZE, self.count, np.float32), np.empty(SIZE, np.float32)
        stream.upload(a, x)
        stream.copy(b, a)
        self.add(stream, a=a, b=b, out=out)
        stream.download(back, out)
        stream.synchronize()
        assert (back == 2 * x).all(), back[:4]
        stream.free(a)
        b.close()


def break_off():
    raise KeyboardInterrupt


@pytest.fixture(params=[f"{name}:0" for name in PROVIDERS])
def device(request):
    try:
        found = ep.device(request.param)
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    yield found
    gc.collect()
    found.synchronize()
    found.trim()


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


@pytest.fixture
def stream(device, mode):
    made = device.stream(synchronous=mode)
    yield made
    made.close()


def in_use(device):
    gc.collect()
    device.synchronize()
    return device.memory_info().in_use


def test_handler_that_uses_ep_sees_and_leaves_nothing_half_done(device, stream, mode):
    program = Program(device, stream)
    program()
    before, calls = in_use(device), program.calls
    handler = Checkpoint(device, stream, program.add, mode)
    places = [*everywhere(program, handler, step=STEP)]
    assert handler.count == len(places) > 200 // STEP
    assert in_use(device) == before
    assert program.calls - calls == len(places) + 1


def assert_nothing_is_lost(device, interrupted):
    """Break a program off at every place; it looks itself whether everything is usable afterwards."""
    before, place = in_use(device), ""
    for place in everywhere(interrupted, break_off, step=STEP, raises=True):  # noqa: B007 - the last one is where it would fail
        pass
    assert place
    assert in_use(device) == before


def test_ctrl_c_loses_no_memory_and_leaves_everything_usable(device, stream):
    program = Program(device, stream)
    program()

    def interrupted():
        try:
            program()
        except KeyboardInterrupt:
            stream.synchronize()
            program()

    assert_nothing_is_lost(device, interrupted)


def test_ctrl_c_leaves_no_stream_in_a_capture(device, stream):
    program = Recording(device, stream)
    program()

    def interrupted():
        is_whole = False
        try:
            program()
            is_whole = True
        except KeyboardInterrupt:
            pass
        if not is_whole:  # the exception is gone, and with it whatever was under way
            stream.synchronize()
            program.other.synchronize()
            program()

    assert_nothing_is_lost(device, interrupted)
    program.other.close()
