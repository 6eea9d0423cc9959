"""Graphs as command lists: one native call, patched copies, graphs that EP replays."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from ep_cpu.graph import CommandList
from ep_primitives import BroadcastBinary, Cast, ElementwiseUnary, Fill, Matmul

import ep

SIZE = 100
SPEC = ep.TensorSpec("float32", (SIZE,))


def memory_of(device, stream, array):
    memory = device.allocate(array.nbytes)
    stream.upload(memory, array)
    return memory


def content(stream, memory, dtype="float32"):
    array = np.empty(memory.nbytes // np.dtype(dtype).itemsize, dtype)
    stream.download(array, memory)
    stream.synchronize()
    return array


def test_every_kind_of_node_is_a_command(device, stream):
    before = device.degraded["graph"]
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5)
    product = Matmul(
        a=ep.TensorSpec("float32", (3, 4)), b=ep.TensorSpec("float32", (4, 5)), out=ep.TensorSpec("float32", (3, 5))
    ).on(device)
    flat, half = ep.TensorSpec("float32", (15,)), ep.TensorSpec("float16", (15,))
    left, right, out = memory_of(device, stream, a), memory_of(device, stream, b), device.allocate(60)
    narrow, wide, numbers = device.allocate(30), device.allocate(60), device.allocate(60)
    with stream.capture() as graph:
        product(stream, a=left, b=right, out=out)
        Cast(x=flat, out=half).on(device)(stream, x=out, out=narrow)
        Cast(x=half, out=flat).on(device)(stream, x=narrow, out=wide)
        Fill(value=ep.Scalar("float32"), out=flat).on(device)(stream, value=2.5, out=numbers)
        BroadcastBinary("mul", a=flat, b=flat, out=flat).on(device)(stream, a=wide, b=numbers, out=numbers)
        stream.copy(wide[0:8], numbers[8:16])
        stream.fill(numbers[0:4], b"\0")
    graph.slot("left", left)
    graph.slot("numbers", numbers)
    for given, matrix in ((None, a), (memory_of(device, stream, a + 1), a + 1)):
        result = numbers if given is None else device.allocate(60)
        if given is None:
            graph.launch(stream)
        else:
            graph.launch(stream, left=given, numbers=result)
        expected = ((matrix @ b).ravel().astype(np.float16).astype(np.float32)) * np.float32(2.5)
        np.testing.assert_allclose(content(stream, result)[1:], expected[1:], rtol=2e-3)
        assert content(stream, result)[0] == 0
        assert (content(stream, wide)[0:2] == content(stream, result)[2:4]).all()
    assert isinstance(graph._executable, CommandList)
    assert device.degraded["graph"] == before


def test_launch_is_one_task_of_a_worker_and_one_count_a_node(device):
    stream = device.stream(synchronous=False)
    x, out = memory_of(device, stream, np.ones(SIZE, np.float32)), device.allocate(4 * SIZE)
    negative = ElementwiseUnary("negative", x=SPEC, out=SPEC).on(device)
    with stream.capture() as graph:
        for _ in range(7):
            negative(stream, x=x, out=out)
    stream.synchronize()
    before, opened, placed = device.native_calls, threading.Event(), stream.twin._progress.tasks
    stream.call(opened.wait)
    graph.launch(stream)
    assert len(placed) == 2
    opened.set()
    stream.synchronize()
    assert device.native_calls - before == 7
    stream.close()


def test_threads_with_bindings_of_their_own_do_not_mix(device):
    stream = device.stream()
    x, out = memory_of(device, stream, np.ones(SIZE, np.float32)), device.allocate(4 * SIZE)
    negative = ElementwiseUnary("negative", x=SPEC, out=SPEC).on(device)
    with stream.capture() as graph:
        for _ in range(50):
            negative(stream, x=x, out=out)
    graph.slot("x", x)
    graph.slot("out", out)
    results = []

    def work(value):
        own = device.stream()
        given, result = memory_of(device, own, np.full(SIZE, value, np.float32)), device.allocate(4 * SIZE)
        for _ in range(50):
            own.fill(result, b"\0")
            graph.launch(own, x=given, out=result)
            results.append(bool((content(own, result) == -value).all()))

    threads = [threading.Thread(target=work, args=(value,)) for value in (2.0, 3.0, 5.0, 7.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 200
    graph.launch(stream)
    assert (content(stream, out) == -1).all()


def test_kernel_without_commands_falls_back_and_is_counted(device, stream, monkeypatch):
    x, out = memory_of(device, stream, np.ones(SIZE, np.float32)), device.allocate(4 * SIZE)
    primitive = ElementwiseUnary("negative", x=SPEC, out=SPEC).on(device)
    with stream.capture() as graph:
        primitive(stream, x=x, out=out)

    class Plain(ep.Kernel):
        def launch(self, stream, memories, scalars):
            raise AssertionError

    monkeypatch.setattr(primitive, "kernel", Plain())
    before = device.degraded["graph"]
    graph.launch(stream)
    assert device.degraded["graph"] == before + 1
    assert (content(stream, out) == -1).all()


def test_failing_command_is_named(device, stream):
    x, out = memory_of(device, stream, np.ones(SIZE, np.float32)), device.allocate(4 * SIZE)
    with stream.capture() as graph:
        ElementwiseUnary("negative", x=SPEC, out=SPEC).on(device)(stream, x=x, out=out)
        stream.fill(out, b"\1")
    graph.launch(stream)
    ledger = stream.twin.ledger.behind(ep.spi.Ticket(str(graph), stream.name, 3))  # as it is amid the launch
    with pytest.raises(ep.DeviceError, match="ep_run failed with code 12") as caught:
        graph._executable._fail(ledger, (1 << 32) + 12)
    assert (caught.value.op, caught.value.stream, caught.value.node) == ("fill", stream.name, 1)
    with pytest.raises(ep.DeviceError, match="its arguments failed with code 12") as caught:
        graph._executable._fail(ledger, -(1 << 32) + 12)
    assert caught.value.node is None
