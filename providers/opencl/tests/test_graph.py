"""Graphs on OpenCL: arguments that are set once, command buffers where the driver has them."""

from __future__ import annotations

import numpy as np
import pytest
from ep_opencl.command_buffer import _FEWEST
from ep_opencl.graph import ClGraph
from ep_primitives import BroadcastBinary, RandomFill

import ep

SIZE = 256
SPEC = ep.TensorSpec("float32", (SIZE,))


def memory_of(stream, array):
    memory = stream.device.allocate(array.nbytes)
    stream.upload(memory, array)
    stream.synchronize()
    return memory


def content(stream, memory, dtype=np.float32):
    array = np.empty(memory.nbytes // np.dtype(dtype).itemsize, dtype)
    stream.download(array, memory)
    stream.synchronize()
    return array


def captured(stream, count=8):
    """Return a graph that adds b to a `count` times, with slots for both."""
    a, b = (memory_of(stream, np.full(SIZE, value, np.float32)) for value in (1, 2))
    add = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC).on(stream.device)
    with stream.capture() as graph:
        for _ in range(count):
            add(stream, a=a, b=b, out=a)
    graph.slot("a", a)
    graph.slot("b", b)
    return graph, a, b


def counted(monkeypatch, graph):
    """Return a list that gets each kernel whose arguments are set from now on."""
    seen = []

    class Spy:
        def __init__(self, kernel):
            self.kernel = kernel

        def set_args(self, *arguments):
            seen.append(self.kernel)
            self.kernel.set_args(*arguments)

    executable = graph._executable
    for targets in executable._targets:
        targets[:] = [
            target._replace(command=target.command._replace(kernel=Spy(target.command.kernel))) for target in targets
        ]
    return seen


def test_arguments_are_set_only_where_a_binding_differs(device, stream, monkeypatch):
    graph, a, _ = captured(stream)
    graph.launch(stream)
    assert isinstance(graph._executable, ClGraph)
    seen = counted(monkeypatch, graph)
    graph.launch(stream)
    assert not seen
    other = memory_of(stream, np.zeros(SIZE, np.float32))
    graph.launch(stream, b=other)
    assert seen
    before = len(seen)
    graph.launch(stream, b=other)
    assert len(seen) == before
    assert (content(stream, a) == 1 + 2 * 8 * 2).all()
    graph.launch(stream)
    assert len(seen) == 2 * before
    assert (content(stream, a) == 1 + 2 * 8 * 3).all()
    assert device.degraded["graph"] == 0


def test_random_fills_draw_on_into_the_memory_given(device, stream):
    state = memory_of(stream, np.array([7, 0], np.uint64))
    out, other = device.allocate(4 * SIZE), device.allocate(4 * SIZE + 16)
    fill = RandomFill("uniform", state=ep.TensorSpec("uint64", (2,)), out=SPEC).on(device)
    with stream.capture() as graph:
        fill(stream, state=state, out=out)
    graph.slot("out", out)
    graph.launch(stream)
    graph.launch(stream, out=other[16:])
    first, second = content(stream, out), content(stream, other[16:])
    assert (first != second).any()
    assert content(stream, state, np.uint64).tolist() == [7, 2 * SIZE]


def test_sequence_numbers_and_names_are_those_of_the_launch(device, stream):
    graph, _, _ = captured(stream, count=2)
    before = stream._sequence
    graph.launch(stream)
    assert stream._sequence == before + 1
    tickets = [ticket for _, ticket in stream.twin._pending._commands if ticket.sequence == before + 1]
    assert [ticket.what for ticket in tickets] == ["add", "add"]
    stream.synchronize()


@pytest.fixture
def buffers(device):
    points = device.twin._points
    if points is None:
        pytest.skip(f"{device.info.driver} has no cl_khr_command_buffer")
    return points


def test_command_buffer_is_one_call(device, stream, buffers):
    graph, a, _ = captured(stream, count=20)
    graph.launch(stream)
    stream.synchronize()
    before = device.native_calls
    graph.launch(stream)
    assert device.native_calls == before + 1
    assert (content(stream, a) == 1 + 2 * 20 * 2).all()
    few, _, _ = captured(stream, count=_FEWEST - 1)
    few.launch(stream)
    assert not few._executable._buffers._recorded


def test_recordings_do_not_overlap_themselves(device, buffers):
    streams = [device.stream() for _ in range(8)]
    graph = captured(streams[0], count=50)[0]
    for _ in range(20):
        for stream in streams:
            graph.launch(stream)
    buffered = graph._executable._buffers
    assert 1 <= len(buffered._recorded) <= 4
    for stream in streams:
        stream.synchronize()
    other = memory_of(streams[0], np.zeros(SIZE, np.float32))
    graph.launch(streams[0], a=other)
    assert (content(streams[0], other) == 2 * 50).all()
    graph.close()
    assert not buffered._recorded
    for stream in streams:
        stream.close()


@pytest.mark.parametrize("count", [1, 8])
def test_handler_launches_what_has_no_slots_amid_its_launch(device, stream, monkeypatch, count):
    a, b = (memory_of(stream, np.full(SIZE, value, np.float32)) for value in (1, 2))
    add = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC).on(device)
    with stream.capture() as graph:
        for _ in range(count):
            add(stream, a=a, b=b, out=a)
    graph.launch(stream)
    place, is_amid = type(stream.twin).placed_all, []

    def placed(twin, commands):
        if not is_amid:
            is_amid.append(True)
            graph.launch(stream)  # as a signal handler does
        place(twin, commands)

    monkeypatch.setattr(type(stream.twin), "placed_all", placed)
    if graph._executable._buffers is not None:
        monkeypatch.setattr(graph._executable._buffers, "enqueue", lambda _: False)
    graph.launch(stream)
    graph.launch(stream)
    assert is_amid
    assert (content(stream, a) == 1 + 2 * count * 4).all()


def test_launch_that_was_interrupted_in_setting_arguments_leaves_the_next_one_right(device, stream, monkeypatch):
    graph, a, b = captured(stream, 1)
    graph.launch(stream)
    stream.synchronize()
    other, target = (memory_of(stream, np.full(SIZE, value, np.float32)) for value in (100, 1000))
    executable, targets = graph._executable, [[*each] for each in graph._executable._targets]

    class Interrupted:
        def set_args(self, *_):
            raise KeyboardInterrupt

    for each in executable._targets:
        each[:] = [target._replace(command=target.command._replace(kernel=Interrupted())) for target in each]
    with pytest.raises(KeyboardInterrupt):
        graph.launch(stream, a=target, b=other)
    for each, kept in zip(executable._targets, targets, strict=True):
        each[:] = kept
    graph.launch(stream, a=target, b=other)
    assert (content(stream, target) == 1100).all()
    assert (content(stream, a) == 3).all()
    for memory in (a, b, other, target):
        memory.close()
