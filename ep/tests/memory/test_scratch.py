"""Scratch: of a launch in stream order, of a step as long as it lives, of a graph once for all of its nodes; or the caller's."""

from __future__ import annotations

import gc
from typing import Any

import manual
import pytest
from ep.memory.scratch import planned
from ep.work.executable import Node
from graphs import SPEC, content, holding

import ep

NBYTES = 24


class Reverse(ep.Descriptor):
    """out = x backwards, by way of scratch."""

    family = "reverse"
    roles = ep.Roles(ep.Role.input("x"), ep.Role.input("spare", is_optional=True), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self, out: ep.TensorSpec = SPEC) -> None:
        self._freeze("-", (ep.TensorSpec("int8", out.shape), None, out))


class ReverseKernel(ep.Kernel):
    scratch_nbytes = NBYTES
    given: list[Any] = []  # noqa: RUF012 - emptied before each test

    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        assert scalars == ()
        x, spare, out, scratch = memories
        assert spare is None
        assert scratch.nbytes >= NBYTES
        self.given.append(scratch)
        source, target, between = map(manual._content, (x, out, scratch))

        def fill() -> None:
            between[: len(source)] = source

        def reverse() -> None:
            target[:] = bytes(between[: len(target)])[::-1]

        stream.enqueue(fill)
        stream.enqueue(reverse)


@pytest.fixture(autouse=True)
def given(provider):
    ReverseKernel.given.clear()
    provider.twin.table[Reverse] = (manual.Strategy("Twice", ReverseKernel),)
    return ReverseKernel.given


@pytest.fixture
def reverse(device):
    return Reverse().on(device)


@pytest.fixture
def operands(stream, device):
    return {"x": holding(stream, 1, 2, 3, 4), "out": device.allocate(4)}


def test_primitive_says_its_bytes(device, reverse):
    assert reverse.scratch_nbytes == NBYTES
    assert manual.Negate(x=SPEC, out=SPEC).on(device).scratch_nbytes == 0
    assert Reverse(out=ep.TensorSpec("int8", (0,))).on(device).scratch_nbytes == 0


@pytest.mark.parametrize("nbytes", [-1, 2.0, True, None, 1 << 60])
def test_kernel_that_says_nonsense_is_refused(monkeypatch, device, nbytes):
    monkeypatch.setattr(ReverseKernel, "scratch_nbytes", nbytes)
    with pytest.raises(TypeError, match=r"kernel of Twice has scratch_nbytes .*, needs an int from 0 on"):
        Reverse().on(device)


def test_launches_of_one_stream_share_their_scratch_and_those_of_two_do_not(device, stream, reverse, operands, given):
    before = device.memory_info().in_use
    for _ in range(3):
        reverse(stream, **operands)
    other = device.stream()
    reverse(other, x=operands["x"], out=device.allocate(4))
    spaces = [scratch.handle for scratch in given]
    assert spaces[0] is spaces[1] is spaces[2]
    assert spaces[3] is not spaces[0]
    assert all(scratch.is_closed for scratch in given)
    assert content(stream, operands["out"]) == [4, 3, 2, 1]
    other.synchronize()
    gc.collect()
    assert device.memory_info().in_use == before


def test_bytes_in_use_are_taken_until_the_stream_has_passed(device, stream, reverse, operands):
    reverse(stream, **operands)
    taken = holding(device.stream(), *[0] * NBYTES)
    assert taken.handle is not ReverseKernel.given[0].handle
    assert content(stream, operands["out"]) == [4, 3, 2, 1]


def test_step_holds_its_own_until_it_is_closed(device, stream, reverse, operands, given):
    before = device.memory_info().in_use
    step = reverse.bind(**operands)
    assert device.memory_info().in_use == before + NBYTES
    step(stream)
    step(stream)
    reverse(stream, **operands)
    assert given[0] is given[1] is step.memories[-1]
    assert given[2].handle is not given[0].handle
    assert content(stream, operands["out"]) == [4, 3, 2, 1]
    step.close()
    del step
    given.clear()
    gc.collect()
    assert device.memory_info().in_use == before


@pytest.fixture(params=["launch", "bind", "captured", "captured step"])
def use(request, stream):
    def launch(primitive, **operands):
        primitive(stream, **operands)

    def bind(primitive, **operands):
        primitive.bind(**operands)(stream)

    def captured(primitive, **operands):
        with stream.capture() as graph:
            primitive(stream, **operands)
        graph.launch(stream)

    def step(primitive, **operands):
        bound = primitive.bind(**operands)
        with stream.capture() as graph:
            bound(stream)
        graph.launch(stream)

    return {"launch": launch, "bind": bind, "captured": captured, "captured step": step}[request.param]


def test_callers_scratch_is_used(device, stream, reverse, operands, given, use):
    mine = device.allocate(64)
    use(reverse, **operands, scratch=mine[8:40])
    assert (given[0].handle, given[0].offset) == (mine.handle, 8)
    assert content(stream, operands["out"]) == [4, 3, 2, 1]
    use(reverse, **operands, scratch=None)
    assert given[1].handle is not mine.handle


def test_steps_in_order_may_share_a_callers_scratch(device, stream, reverse, operands, given):
    mine, between = device.allocate(NBYTES), device.allocate(4)
    before = device.memory_info().in_use
    first = reverse.bind(x=operands["x"], out=between, scratch=mine)
    second = reverse.bind(x=between, out=operands["out"], scratch=mine)
    assert device.memory_info().in_use == before
    first(stream)
    second(stream)
    assert content(stream, operands["out"]) == [1, 2, 3, 4]
    assert given[0].handle is given[1].handle is mine.handle


def test_callers_scratch_is_checked(monkeypatch, provider, device, stream, reverse, operands, given, use):
    foreign, closed = provider.devices()[1].allocate(64), device.allocate(64)
    closed.close()
    for scratch, kind, text in (
        (b"x" * 64, TypeError, "scratch is b'x+.*needs a Memory of 24 bytes; leave it out"),
        (device.allocate(NBYTES - 1), ValueError, r"scratch needs 24 bytes for .*, has 23"),
        (foreign, ValueError, "scratch is on manual:1, needs manual:0"),
        (closed, ep.ClosedError, "scratch .*was closed"),
    ):
        with pytest.raises(kind, match=f"^reverse: {text}"):
            use(reverse, **operands, scratch=scratch)
    memory = device.allocate(64)
    for name in ("x", "out"):
        with pytest.raises(ValueError, match=f"^reverse: {name} and scratch share bytes .*give scratch a memory"):
            use(reverse, **operands | {name: memory[20:24]}, scratch=memory[:32])
    monkeypatch.setattr(device, "info", device.info._replace(alignment=16))
    with pytest.raises(ValueError, match="scratch starts at byte 8, needs a multiple of 16, the device's alignment"):
        use(reverse, **operands, scratch=memory[8:40])
    assert given == []


def test_primitive_without_need_takes_any_scratch_and_does_not_use_it(device, stream, use):
    negate = manual.Negate(x=SPEC, out=SPEC).on(device)
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    use(negate, x=x, out=out, scratch=device.allocate(64))
    assert content(stream, out) == [255, 254, 253, 252]
    with pytest.raises(TypeError, match=r"unknown scretch\Z"):
        use(negate, x=x, out=out, scretch=None)


def test_operand_cannot_be_called_scratch():
    with pytest.raises(ValueError, match="every launch takes scratch; give the operand another name"):
        ep.Roles(ep.Role.input("scratch"), ep.Role.output("out"))


def test_graph_has_one_arena_for_nodes_in_order(device, stream, reverse, operands, given):
    between = device.allocate(4)
    with stream.capture() as graph:
        reverse(stream, x=operands["x"], out=between)
        reverse(stream, x=between, out=operands["out"])
    before = device.memory_info().in_use
    graph.launch(stream)
    graph.launch(stream)
    assert device.memory_info().in_use == before + NBYTES
    assert len({(id(scratch.handle), scratch.offset) for scratch in given}) == 1
    assert content(stream, operands["out"]) == [1, 2, 3, 4]
    graph.close()
    given.clear()
    gc.collect()
    stream.synchronize()
    assert device.memory_info().in_use == before


def test_branches_of_a_graph_have_bytes_of_their_own(device, stream, reverse, operands, given):
    other, out = device.stream(), device.allocate(4)
    with stream.capture() as graph:
        begun = stream.record(timed=False)
        reverse(stream, **operands)
        other.wait(begun)
        reverse(other, x=operands["x"], out=out)
        stream.wait(other.record(timed=False))
    graph.launch(stream)
    one, two = given
    assert one.handle is two.handle
    assert abs(one.offset - two.offset) >= NBYTES
    assert content(stream, out) == content(stream, operands["out"]) == [4, 3, 2, 1]


def test_launches_of_one_graph_on_two_streams_follow_each_other(device, reverse, operands):
    device.twin.stream_type = manual.WaitingStream
    first, second = device.stream(), device.stream()
    with first.capture() as graph:
        reverse(first, **operands)
    graph.launch(first)
    graph.launch(first)
    graph.launch(second)
    assert [event.stream for event in second.twin.waits] == [first]
    assert not second.twin.waits[0].is_done
    first.synchronize()
    assert second.twin.waits[0].is_done
    assert first.twin.waits == []


def test_launch_behind_one_on_a_stream_that_was_closed(device, stream, reverse, operands):
    other = device.stream()
    with stream.capture() as graph:
        reverse(stream, **operands)
    graph.launch(other)
    other.close()
    stream.upload(operands["x"], bytes([5, 6, 7, 8]))
    graph.launch(stream)
    assert content(stream, operands["out"]) == [8, 7, 6, 5]


def test_graph_without_scratch_waits_for_nothing(device, operands):
    device.twin.stream_type = manual.WaitingStream
    first, second = device.stream(), device.stream()
    with first.capture() as graph:
        manual.Negate(x=SPEC, out=SPEC).on(device)(first, **operands)
    graph.launch(first)
    graph.launch(second)
    assert second.twin.waits == []
    assert first.twin.events == 0


def test_graph_over_scratch_is_refused_where_any_is(device, stream, reverse, operands):
    with stream.capture() as graph:
        reverse(stream, **operands)
    graph.launch(stream)
    other = device.stream()
    with other.capture(), pytest.raises(ValueError, match=r"^graph: .* is being captured"):
        graph.launch(other)
    other.close()
    with pytest.raises(ep.ClosedError, match=r"graph.launch: .* was closed"):
        graph.launch(other)
    with pytest.raises(TypeError, match="stream is int, needs a Stream"):
        graph.launch(3)


def test_slots_go_beside_scratch(device, stream, reverse, operands):
    with stream.capture() as graph:
        reverse(stream, **operands)
    graph.slot("out", operands["out"])
    other = holding(stream, 9, 9, 9, 9)
    graph.launch(stream, out=other)
    assert content(stream, other) == [4, 3, 2, 1]


def test_captured_scratch_of_a_caller_is_a_written_operand(device, stream, reverse, operands):
    mine = device.allocate(64)
    with stream.capture() as graph:
        reverse(stream, **operands, scratch=mine)
    graph.slot("out", operands["out"])
    with pytest.raises(ValueError, match="out shares bytes with the captured memory of scratch of reverse"):
        graph.launch(stream, out=mine[4:8])


def test_stream_that_is_none_is_told_so(device, reverse, operands):
    with pytest.raises(TypeError, match="stream is Memory, needs a Stream"):
        reverse(device.allocate(4), **operands)


def test_shortage_of_scratch_leaves_the_device_usable(device, stream, reverse, operands):
    device.twin.limit = device.twin.in_use
    with pytest.raises(ep.OutOfMemoryError):
        reverse(stream, **operands)
    with pytest.raises(ep.OutOfMemoryError):
        reverse.bind(**operands)
    device.twin.limit = 1 << 40
    reverse(stream, **operands)
    assert content(stream, operands["out"]) == [4, 3, 2, 1]


def test_contents_are_inspected_beside_scratch(watched, device):
    reverse = Reverse().on(device)
    x, out = holding(watched, 1, 2, 3, 4), device.allocate(4)
    reverse(watched, x=x, out=out)
    reverse.bind(x=x, out=out)(watched)
    with watched.capture() as graph:
        reverse(watched, x=x, out=out)
    graph.launch(watched)
    assert content(watched, out) == [4, 3, 2, 1]


def test_plan_gives_each_stream_the_most_that_its_nodes_need(device, reverse):
    operands = (None, None, None)
    nodes = [Node(reverse, operands, (), None)] * 2 + [Node("copy", (), (), None)] + [Node(reverse, operands, (), None)]
    assert planned(nodes, [0, 1, 0, 0], 16) == ({0: 0, 1: 32, 3: 0}, 64)
    equipped = Node(reverse, (*operands, None), (), None)
    assert planned([equipped], [0], 16) == ({}, 0)


def test_graph_waits_for_a_launch_that_was_interrupted_before_its_event(device, stream, reverse, operands, monkeypatch):
    other = device.stream()
    with stream.capture() as graph:
        reverse(stream, **operands)
    graph.launch(stream)
    known = graph._last

    def interrupted(**_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stream, "record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            graph.launch(stream)
    waited = []
    monkeypatch.setattr(other, "wait", waited.append)
    graph.launch(other)
    (event,) = waited
    assert (event.stream, event is known) == (stream, False)


def test_graph_does_not_wait_for_a_closed_stream_whose_launch_was_interrupted(device, reverse, operands, monkeypatch):
    first, other = device.stream(), device.stream()
    with first.capture() as graph:
        reverse(first, **operands)

    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(first, "record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graph.launch(first)
    first.close()
    graph.launch(other)
    other.synchronize()
    other.close()
