"""A bound lowering is one graph of the device's from its second launch on."""

from __future__ import annotations

import gc

import manual
import pytest
from ep.work.executable import Replay
from graphs import content, holding
from lowered import Mix

import ep


class Recorded(ep.Executable):
    """Runs nodes one by one, and counts runs and closings."""

    def __init__(self, nodes):
        self.nodes, self.runs, self.closed = nodes, 0, 0

    def bind(self, bindings):
        assert bindings == ()

        def run(stream, _, __):
            self.runs += 1
            for node in self.nodes:
                node.run(stream, node.memories, node.scalars)

        return run

    def close(self):
        self.closed += 1


@pytest.fixture
def made(monkeypatch):
    """Return the executables that the device makes."""
    every = []

    def instantiate(_, nodes, slots):
        assert slots == ()
        every.append(Recorded(nodes))
        return every[-1]

    monkeypatch.setattr(manual.ManualDevice, "instantiate", instantiate)
    return every


@pytest.fixture
def step(device, stream):
    operands = {"x": holding(stream, 1, 2, 3, 4), "out": device.allocate(4), "other": device.allocate(4)}
    return Mix().on(device).bind(**operands)


def is_right(stream, step):
    given = [content(stream, memory) for memory in step.memories[:3]]
    stream.fill(step.memories[1], b"\0")
    return given == [[1, 2, 3, 4], [255, 254, 253, 252], [2, 4, 6, 8]]


def test_first_launch_makes_no_graph_and_later_ones_share_one(stream, step, made):
    for count in (0, 1, 2, 3):
        step(stream)
        assert is_right(stream, step)
        assert [each.runs for each in made] == ([count] if count else [])
    assert [str(node.what) for node in made[0].nodes] == ["add", "negate", "add", "add"]


def test_nodes_are_made_with_the_graph(stream, step, made, monkeypatch):
    bound, asked = step._run, []
    nodes = bound._nodes
    monkeypatch.setattr(bound, "_nodes", lambda: asked.append(True) or nodes())
    step(stream)
    assert not asked
    step(stream)
    step(stream)
    assert asked == [True]
    assert len(made[0].nodes) == 4


def test_graph_is_closed_with_its_step(stream, step, made):
    step(stream)
    step(stream)
    step.close()
    gc.collect()
    assert [each.closed for each in made] == [1]


def test_device_without_graphs_launches_stage_after_stage(stream, step, monkeypatch):
    asked = []
    monkeypatch.setattr(manual.ManualDevice, "instantiate", lambda _, *given: asked.append(given))
    for _ in range(3):
        step(stream)
        assert is_right(stream, step)
    assert len(asked) == 1


@pytest.mark.parametrize("where", ["instantiate", "bind"])
@pytest.mark.parametrize(
    "error", [ep.OutOfMemoryError("no memory for a graph", requested=4), ep.UnsupportedError("no such node")], ids=type
)
def test_graph_that_cannot_be_made_is_none(stream, step, monkeypatch, where, error):
    def fail(*_):
        raise error

    class Unbound(Recorded):
        bind = fail

    def instantiate(_, nodes, __):
        return fail() if where == "instantiate" else Unbound(nodes)

    monkeypatch.setattr(manual.ManualDevice, "instantiate", instantiate)
    for _ in range(3):
        step(stream)
        assert is_right(stream, step)


def test_graph_that_is_no_executable_is_refused_in_a_sentence(stream, step, monkeypatch):
    monkeypatch.setattr(manual.ManualDevice, "instantiate", lambda _, nodes, __: [*nodes])
    step(stream)
    with stream.capture() as graph:
        step(stream)
    for launch in (step, graph.launch):
        with pytest.raises(TypeError, match=r"ManualDevice\.instantiate returned .*, needs an ep\.Executable, or None"):
            launch(stream)
    step(stream)
    assert is_right(stream, step)
    step.close()
    gc.collect()  # and nothing is heard of it


def test_handler_that_launches_while_the_graph_is_made_is_served(stream, step, monkeypatch):
    def instantiate(_, nodes, __):
        step(stream)  # as a signal handler does
        assert is_right(stream, step)
        return Recorded(nodes)

    monkeypatch.setattr(manual.ManualDevice, "instantiate", instantiate)
    for _ in range(3):
        step(stream)
        assert is_right(stream, step)
    assert step._run._executable.runs == 2


class Naming(Recorded):
    """Fails at once, and names the second node, as a provider's own executable does."""

    def bind(self, _):
        def run(stream, *__):
            error = ep.DeviceError("trapped")
            stream.ledger.ticket().of(1, self.nodes[1].what).blame(error)
            raise error

        return run


def trapping(nodes, slots):
    def trap(*_):
        raise ep.DeviceError("trapped")

    return Replay((nodes[0], nodes[1]._replace(run=trap), *nodes[2:]), slots)


@pytest.mark.parametrize("make", [lambda nodes, _: Naming(nodes), trapping], ids=["own", "replay"])
def test_failed_stage_is_named_and_is_no_node_of_a_graph(stream, step, monkeypatch, make):
    monkeypatch.setattr(manual.ManualDevice, "instantiate", lambda _, *given: make(*given))
    step(stream)
    before = stream._sequence
    with pytest.raises(ep.DeviceError) as caught:
        step(stream)
    error = caught.value
    assert (error.op, error.sequence, error.node) == ("negate", before + 1, None)
    assert "graph" not in str(error)
    with stream.capture() as graph:
        step(stream)
    with pytest.raises(ep.DeviceError) as caught:
        graph.launch(stream)
    assert (caught.value.op, caught.value.node) == ("negate", 1)


def test_interrupted_graph_is_not_tried_again(stream, step, monkeypatch):
    def instantiate(_, *__):
        raise KeyboardInterrupt

    monkeypatch.setattr(manual.ManualDevice, "instantiate", instantiate)
    step(stream)
    with pytest.raises(KeyboardInterrupt):
        step(stream)
    step(stream)
    assert is_right(stream, step)
