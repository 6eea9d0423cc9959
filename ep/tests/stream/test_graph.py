"""Graphs: slots, launches, what is held."""

from __future__ import annotations

import gc
import threading

import manual
import pytest
from ep.work.executable import Replay
from graphs import SPEC, content, holding

import ep

WORDS = ep.TensorSpec("int32", (2,))


@pytest.fixture
def negate(device):
    return manual.Negate(x=SPEC, out=SPEC).on(device)


@pytest.fixture
def add(device):
    return manual.Add(a=SPEC, b=SPEC, out=SPEC).on(device)


def test_capture_runs_nothing_and_each_launch_runs_all(device, stream, negate):
    x, y, out = holding(stream, 1, 2, 3, 4), device.allocate(4), device.allocate(4)
    stream.synchronize()
    with stream.capture() as graph:
        negate(stream, x=x, out=y)
        stream.copy(out, y)
        stream.fill(y, b"\7")
    assert not stream.twin.queue
    assert [str(node.what) for node in graph.nodes] == ["negate", "copy", "fill"]
    graph.launch(stream)
    assert content(stream, out) == [255, 254, 253, 252]
    assert content(stream, y) == [7, 7, 7, 7]
    stream.upload(x, bytes([9, 9, 9, 9]))
    graph.launch(stream)
    assert content(stream, out) == [247] * 4
    assert device.degraded["graph"] == 1


def test_launch_is_one_enqueue(device, stream, negate):
    with stream.capture() as graph:
        for _ in range(5):
            negate(stream, x=device.allocate(4), out=device.allocate(4))
    before = stream._sequence
    graph.launch(stream)
    assert stream._sequence == before + 1
    assert len(stream.twin.queue) == 5


def test_step_is_captured_as_its_primitive_with_its_memories(device, stream, negate):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    step = negate.bind(x=x, out=out)
    x.close()
    with stream.capture() as graph:
        step(stream)
    assert graph.nodes[0][:3] == (negate, (x, out), ())
    step.close()
    with pytest.raises(ep.ClosedError, match="bound step was closed"), stream.capture():
        step(stream)
    graph.launch(stream)
    assert content(stream, out) == [255, 254, 253, 252]


def test_scalars_are_kept(device, stream):
    x, out = holding(stream, 1, 0, 0, 0, 2, 0, 0, 0), device.allocate(8)
    with stream.capture() as graph:
        manual.Scale(x=WORDS, out=WORDS).on(device)(stream, factor=3, x=x, out=out)
    graph.launch(stream)
    assert content(stream, out) == [3, 0, 0, 0, 6, 0, 0, 0]


def test_slots_are_given_at_launch_and_keep_what_was_captured_otherwise(device, stream, add):
    a, b, out = holding(stream, 1, 1, 1, 1), holding(stream, 2, 2, 2, 2), device.allocate(4)
    with stream.capture() as graph:
        graph.slot("a", a)
        add(stream, a=a, b=b, out=out)
        stream.copy(b, out)
    graph.slot("out", out)
    assert graph.slots == ("a", "out")
    other, result = holding(stream, 5, 6, 7, 8), device.allocate(6)
    graph.launch(stream, a=other, out=result)
    assert content(stream, result)[:4] == [7, 8, 9, 10]
    assert content(stream, b) == [7, 8, 9, 10]
    graph.launch(stream)
    assert content(stream, out) == [8, 9, 10, 11]


def test_operands_inside_a_slot_move_with_it(device, stream, negate):
    memory, other = holding(stream, *range(12)), holding(stream, *range(20, 32))
    with stream.capture() as graph:
        negate(stream, x=memory[0:4], out=memory[4:8])
        stream.copy(memory[8:12], memory[4:8])
    graph.slot("m", memory)
    graph.launch(stream, m=other)
    assert content(stream, memory) == [*range(12)]
    assert content(stream, other) == [20, 21, 22, 23, 236, 235, 234, 233, 236, 235, 234, 233]


def test_each_launch_owns_its_bindings(device, stream, negate):
    x, out = device.allocate(4), device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=out)
    graph.slot("x", x)
    graph.slot("out", out)
    streams = [device.stream() for _ in range(3)]
    inputs = [holding(stream, k, k, k, k) for k in (1, 2, 3)]
    outs = [device.allocate(4) for _ in inputs]
    stream.synchronize()
    for each, given, result in zip(streams, inputs, outs, strict=True):
        graph.launch(each, x=given, out=result)
    for each in reversed(streams):
        each.synchronize()
    assert [content(stream, result)[0] for result in outs] == [255, 254, 253]


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (lambda d: {"z": d.allocate(4)}, ValueError, "no slot z; the slots are x, out"),
        (lambda _: {"x": b"abcd"}, TypeError, "x is bytes, needs a Memory"),
        (lambda d: {"x": d.allocate(3)}, ValueError, "x has 3 bytes, needs 4"),
        (lambda d: {"x": d.provider.devices()[1].allocate(4)}, ValueError, "x is on manual:1, needs manual:0"),
    ],
)
def test_wrong_bindings_are_refused_by_name(device, stream, negate, given, kind, words):
    x, out = device.allocate(4), device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=out)
    graph.slot("x", x)
    graph.slot("out", out)
    with pytest.raises(kind, match=words):
        graph.launch(stream, **given(device))
    assert not stream.twin.queue


def test_closed_binding_is_refused(device, stream, negate):
    x = device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=device.allocate(4))
    graph.slot("x", x)
    given = device.allocate(4)
    given.close()
    with pytest.raises(ep.ClosedError, match=r"graph.launch: x"):
        graph.launch(stream, x=given)


def test_alignment_is_what_the_operands_need(device, stream):
    memory, out = device.allocate(16), device.allocate(8)
    with stream.capture() as graph:
        manual.Scale(x=WORDS, out=WORDS).on(device)(stream, factor=3, x=memory[4:12], out=out)
        stream.copy(out[0:1], memory[3:4])
    graph.slot("m", memory[3:12])
    with pytest.raises(ValueError, match=r"m starts at byte 4, needs a multiple of 4 plus 3"):
        graph.launch(stream, m=device.allocate(16)[4:])
    graph.launch(stream, m=device.allocate(16)[7:])


def test_bindings_share_bytes_only_if_neither_is_written(device, stream, add, negate):
    a, b, out, rest = (device.allocate(4) for _ in range(4))
    with stream.capture() as graph:
        add(stream, a=a, b=b, out=out)
        negate(stream, x=out, out=rest)
    for name, memory in (("a", a), ("b", b), ("out", out)):
        graph.slot(name, memory)
    both = device.allocate(8)
    graph.launch(stream, a=both[0:4], b=both[0:4])
    for given, words in (
        ({"a": both[0:4], "out": both[2:6]}, "a shares bytes with the memory of slot out, and out is written"),
        ({"a": out}, "a shares bytes with the memory of slot out"),
        ({"out": a}, "out shares bytes with the memory of slot a"),
        ({"a": rest}, r"a shares bytes with the captured memory of out of negate \(node 1\), and out of negate"),
        ({"out": rest}, "out shares bytes with the captured memory"),
    ):
        with pytest.raises(ValueError, match=words):
            graph.launch(stream, **given)
    graph.launch(stream, a=out, out=both[4:8])


def test_wrong_slots_are_refused(device, stream, negate):
    x, out = device.allocate(8), device.allocate(8)
    with stream.capture() as graph:
        negate(stream, x=x[0:4], out=out[0:4])
        for name, memory, kind, words in (
            ("a b", x, ValueError, "no identifier"),
            ("x", b"", TypeError, "needs a Memory"),
        ):
            with pytest.raises(kind, match=words):
                graph.slot(name, memory)
        graph.slot("x", x)
    with pytest.raises(ValueError, match="there is a slot x"):
        graph.slot("x", out)
    with pytest.raises(ValueError, match="y shares bytes with slot x"):
        graph.slot("y", x[4:8])
    graph.launch(stream)
    with pytest.raises(ValueError, match="out comes after the first launch"):
        graph.slot("out", out)


@pytest.mark.parametrize(
    ("cut", "words"), [((2, 8), r"x of negate \(node 0\) begins at byte -2 of slot x"), ((4, 8), "no captured")]
)
def test_slot_must_hold_whole_operands(device, stream, negate, cut, words):
    x = device.allocate(8)
    with stream.capture() as graph:
        negate(stream, x=x[0:4], out=device.allocate(4))
    graph.slot("x", x[slice(*cut)])
    with pytest.raises(ValueError, match=words):
        graph.launch(stream)


def test_slot_counts_the_bytes_that_are_touched(device, stream):
    x, out = holding(stream, *range(8)), device.allocate(4)
    descriptor = manual.Add(
        a=ep.TensorSpec("int8", (2,), offset=4), b=ep.TensorSpec("int8", (2,)), out=ep.TensorSpec("int8", (2,))
    )
    with stream.capture() as graph:
        descriptor.on(device)(stream, a=x, b=out[2:4], out=out[0:2])
    graph.slot("x", x[0:6])
    assert graph._make_ready()
    (slot,) = graph._table.slots
    assert slot.places == ((0, 0, 0),)
    replaced = []
    nodes = [node._replace(run=lambda _, memories, __: replaced.extend(memories)) for node in graph.nodes]
    Replay(tuple(nodes), (slot,)).bind((device.allocate(7)[1:],))(stream.twin, (), ())
    assert (replaced[0].offset, replaced[0].nbytes) == (1, 6)


def test_operand_that_begins_before_a_slot_is_refused(device, stream):
    x, out = holding(stream, *range(8)), device.allocate(4)
    with stream.capture() as graph:
        manual.Negate(x=ep.TensorSpec("int8", (2,), offset=4), out=ep.TensorSpec("int8", (2,))).on(device)(
            stream, x=x, out=out[0:2]
        )
    graph.slot("x", x[4:6])
    with pytest.raises(ValueError, match=r"begins at byte -4 of slot x, which has 2, and bytes \[0:2\] are touched"):
        graph.launch(stream)


def test_graph_holds_its_memories_until_it_is_closed(device, stream, negate):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=out)
    x.close()
    device.synchronize()
    device.trim()
    assert not device.twin.freed
    graph.launch(stream)
    assert content(stream, out) == [255, 254, 253, 252]
    graph.close()
    graph.close()
    device.synchronize()
    device.trim()
    assert len(device.twin.freed) == 1
    with pytest.raises(ep.ClosedError, match="it was closed"):
        graph.launch(stream)


def test_dropped_graph_lets_go(device, stream, negate):
    x = device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=device.allocate(4))
    x.close()
    del graph
    gc.collect()
    device.synchronize()
    device.trim()
    assert len(device.twin.freed) == 2


def test_empty_outputs_and_empty_graphs_run(device, stream):
    empty = ep.TensorSpec("int8", (0,))
    with stream.capture() as graph:
        manual.Negate(x=empty, out=empty).on(device)(stream, x=device.allocate(0), out=device.allocate(0))
    graph.launch(stream)
    with stream.capture() as nothing:
        pass
    nothing.launch(stream)
    assert not stream.twin.queue


def test_launch_wants_a_stream_of_the_device(device, stream, provider):
    with stream.capture() as graph:
        pass
    with pytest.raises(ValueError, match="stream is of manual:1, needs one of manual:0"):
        graph.launch(provider.devices()[1].stream())
    with pytest.raises(TypeError, match="needs a Stream"):
        graph.launch(None)


def test_first_launches_of_several_threads_make_one_executable(device, stream, negate):
    with stream.capture() as graph:
        negate(stream, x=device.allocate(4), out=device.allocate(4))
    streams = [device.stream() for _ in range(4)]
    threads = [threading.Thread(target=graph.launch, args=(each,)) for each in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [len(each.twin.queue) for each in streams] == [1, 1, 1, 1]
    assert device.degraded["graph"] == 1


def test_operands_that_a_launch_updates_count_as_written(device, stream, negate):
    class Advance(manual.Negate):
        family = "advance"
        roles = ep.Roles(ep.Role.state("x"), ep.Role.output("out"))
        __slots__ = ()

    device.provider.twin.table[Advance] = device.provider.twin.table[manual.Negate]
    x, y = device.allocate(4), device.allocate(4)
    with stream.capture() as graph:
        Advance(x=SPEC, out=SPEC).on(device)(stream, x=x, out=device.allocate(4))
        negate(stream, x=y, out=device.allocate(4))
    graph.slot("x", x)
    with pytest.raises(ValueError, match="x is written"):
        graph.launch(stream, x=y)
