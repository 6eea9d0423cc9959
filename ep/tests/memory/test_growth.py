"""What is not used any more is let go by whatever a program does in its loop: synchronising, viewing, wrapping, making streams."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from ep_primitives import BroadcastBinary

import ep

TURNS = 64
FEW = 8
SIZE = 1000


class Owners:
    """Arrays that a loop has made, and how many of them somebody still keeps."""

    def __init__(self):
        self._known = []

    def array(self):
        made = np.ones(SIZE, np.float32)
        self._known.append(weakref.ref(made))
        return made

    @property
    def alive(self):
        return sum(known() is not None for known in self._known)


@pytest.fixture
def device():
    return ep.device("cpu:0")


@pytest.fixture(params=[True, False], ids=["synchronous", "asynchronous"])
def stream(device, request):
    made = device.stream(synchronous=request.param)
    yield made
    made.close()


@pytest.fixture
def owners():
    gc.collect()
    return Owners()


def test_synchronising_lets_go_of_the_operands_of_launches(stream, owners):
    spec = ep.TensorSpec("float32", (SIZE,))
    add = BroadcastBinary.infer("add", spec, spec).on(stream.device)
    for _ in range(TURNS):
        x = owners.array()
        add(stream, a=x, b=x, out=owners.array())
        del x
        stream.synchronize()
        assert owners.alive <= FEW


def test_launches_let_go_of_the_operands_of_earlier_ones(device, owners):
    stream = device.stream(synchronous=True)
    spec = ep.TensorSpec("float32", (SIZE,))
    add = BroadcastBinary.infer("add", spec, spec).on(device)
    for _ in range(TURNS):
        x = owners.array()
        add(stream, a=x, b=x, out=owners.array())
        del x
        assert owners.alive <= FEW
    stream.close()


@pytest.mark.parametrize("closes", [True, False])
def test_viewing_lets_go_of_earlier_views(stream, owners, closes):
    for _ in range(TURNS):
        memory, _ = ep.view(owners.array(), stream)
        if closes:
            memory.close()
        del memory
        assert owners.alive <= FEW


def test_wrapping_lets_go_of_earlier_owners(device, owners):
    for _ in range(TURNS):
        array = owners.array()
        device.wrap_host(array.ctypes.data, array.nbytes, array).close()
        del array
        assert owners.alive <= FEW


def test_bound_steps_let_go_of_their_operands(stream, owners):
    spec = ep.TensorSpec("float32", (SIZE,))
    add = BroadcastBinary.infer("add", spec, spec).on(stream.device)
    for _ in range(TURNS):
        x = owners.array()
        step = add.bind(a=x, b=x, out=owners.array())
        step(stream)
        step.close()
        del x, step
        stream.synchronize()
        assert owners.alive <= FEW


@pytest.mark.parametrize("name", ["cpu:0", "sim:0", "opencl:0"])
def test_making_streams_gives_back_the_threads_of_dropped_ones(name):
    try:
        device = ep.device(name)
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    gc.collect()
    device.synchronize()
    before = threading.active_count()
    for _ in range(TURNS):
        stream = device.stream(synchronous=False)
        stream.call(int)
        stream.synchronize()
        del stream
        assert threading.active_count() <= before + FEW


def test_synchronising_gives_back_the_threads_of_dropped_streams(device, stream):
    before = threading.active_count()
    dropped = [device.stream(synchronous=False) for _ in range(TURNS)]
    del dropped
    stream.synchronize()
    assert threading.active_count() <= before + 1
