"""Lowering to stages: temporaries in one scratch, launches, steps, graphs whose nodes are the stages, and what is refused."""

from __future__ import annotations

import gc
import itertools
import random

import manual
import pytest
from ep.memory.scratch import packed
from ep.plugin.capabilities import served
from ep.work.executable import Replay
from ep.work.stage import Lifetime
from graphs import SPEC, content, holding
from lowered import Mix, add

import ep

WORDS = ep.TensorSpec("int32", (2,))


class Scaled(ep.Descriptor):
    """out = 3 factor x on int32."""

    family = "scaled"
    roles = ep.Roles(ep.Role.number("factor", default=2), ep.Role.input("x"), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self, out=WORDS):
        self._freeze("-", (ep.Scalar("int32"), out, out))

    def lower(self):
        scale = manual.Scale(x=self.specs[1], out=self.out)
        return ep.Stage(scale, factor="factor", x="x", out="t"), ep.Stage(scale, factor=3, x="t", out="out")


class Twice(ep.Descriptor):
    """out = x + x, by a stage that is wired otherwise than the whole."""

    family = "twice"
    roles = ep.Roles(ep.Role.input("x"), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self, out=SPEC):
        self._freeze("-", (SPEC, out))

    def lower(self):
        return (ep.Stage(add(), a="x", b="x", out="out"),)


class Nested(Twice):
    """out = 4 x, by stages that are lowered themselves."""

    family = "nested"
    __slots__ = ()

    def lower(self):
        return ep.Stage(Twice(), x="x", out="t"), ep.Stage(Twice(), x="t", out="out")


@pytest.fixture(params=["launch", "bind", "captured", "captured step", "worker"])
def use(request, stream, device):
    def captured(work):
        with stream.capture() as graph:
            work(stream)
        graph.launch(stream)
        return stream

    def worker(primitive, operands):
        other = device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
        primitive(other, **operands)
        other.synchronize()
        return other

    return {
        "launch": lambda primitive, operands: [primitive(stream, **operands), stream][1],
        "bind": lambda primitive, operands: [primitive.bind(**operands)(stream), stream][1],
        "captured": lambda primitive, operands: captured(lambda stream: primitive(stream, **operands)),
        "captured step": lambda primitive, operands: captured(primitive.bind(**operands)),
        "worker": worker,
    }[request.param]


def test_stages_run_in_order_over_temporaries(device, stream, use):
    x, out, other = holding(stream, 1, 2, 3, 250), device.allocate(4), device.allocate(4)
    stream.synchronize()
    ran = use(Mix().on(device), {"x": x, "out": out, "other": other})
    assert content(ran, out) == [255, 254, 253, 6]
    assert content(ran, other) == [2, 4, 6, 244]


def test_absent_operands_are_those_of_no_stage(device, stream, use):
    x, spare, out = holding(stream, 1, 2, 3, 4), holding(stream, 9, 9, 9, 9), device.allocate(4)
    stream.synchronize()
    ran = use(Mix(spare=SPEC, other=None).on(device), {"x": x, "spare": spare, "out": out})
    assert content(ran, out) == [247] * 4


def test_numbers_are_the_wholes_or_the_stages(device, stream, use):
    x, out = holding(stream, 1, 0, 0, 0, 255, 255, 255, 255), device.allocate(8)
    stream.synchronize()
    scaled = Scaled().on(device)
    ran = use(scaled, {"x": x, "out": out, "factor": -5})
    assert content(ran, out) == [241, 255, 255, 255, 15, 0, 0, 0]
    ran = use(scaled, {"x": x, "out": out})
    assert content(ran, out) == [6, 0, 0, 0, 250, 255, 255, 255]


def test_one_stage_wired_otherwise_and_stages_of_stages(device, stream, use):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    stream.synchronize()
    assert content(use(Twice().on(device), {"x": x, "out": out}), out) == [2, 4, 6, 8]
    assert content(use(Nested().on(device), {"x": x, "out": out}), out) == [4, 8, 12, 16]
    (stage, _) = Nested().on(device).stages
    assert stage.stages == (add().on(device),)


def test_what_runs_is_named(device):
    primitive = Mix().on(device)
    assert primitive.is_lowered
    assert primitive.descriptor is primitive.asked
    assert [str(stage) for stage in primitive.stages] == ["add", "negate", "add", "add"]
    assert primitive.implementation.name == "Plain + Plain + Plain + Plain"
    assert repr(primitive) == "<Primitive mix/-/int8/dense by Plain + Plain + Plain + Plain on manual:0>"
    assert not add().on(device).stages


def test_temporaries_are_one_scratch_by_their_lifetimes(device, stream):
    before = device.memory_info().in_use
    primitive = Mix().on(device)
    assert primitive.scratch_nbytes == 8  # sum and negated, each of 4 bytes
    step = primitive.bind(x=holding(stream, 1, 2, 3, 4), out=device.allocate(4), other=device.allocate(4))
    assert device.memory_info().in_use == before + 12 + 8
    step(stream)
    mine = device.allocate(8)
    primitive(stream, x=step.memories[0], out=step.memories[1], other=step.memories[2], scratch=mine)
    assert content(stream, mine) in ([2, 4, 6, 8, 254, 252, 250, 248], [254, 252, 250, 248, 2, 4, 6, 8])
    assert Mix(*[ep.Stage(add(), a="x", b="x", out="out")], other=None).on(device).scratch_nbytes == 0


def test_graph_has_the_stages_as_its_nodes_and_slots_reach_them(device, stream, monkeypatch):
    seen = []
    monkeypatch.setattr(manual.ManualDevice, "instantiate", lambda _, *given: seen.append(given))
    x, out, other = holding(stream, 1, 2, 3, 4), device.allocate(4), device.allocate(4)
    with stream.capture() as graph:
        Mix().on(device)(stream, x=x, out=out, other=other)
    assert [str(node.what) for node in graph.nodes] == ["mix"]
    graph.slot("x", x)
    graph.slot("out", out)
    graph.launch(stream)
    ((nodes, slots),) = seen
    assert nodes == graph.nodes
    assert [str(node.what) for node in nodes] == ["add", "negate", "add", "add"]
    assert nodes[0].memories[-1].handle is nodes[1].memories[0].handle
    assert {slot.name: [(place.node, place.operand) for place in slot.places] for slot in slots} == {
        "x": [(0, 0), (0, 1), (2, 0), (2, 1), (3, 1)],
        "out": [(3, 2)],
    }
    given = holding(stream, 5, 6, 7, 8), device.allocate(4)
    graph.launch(stream, x=given[0], out=given[1])
    assert content(stream, given[1]) == [251, 250, 249, 248]
    assert content(stream, out) == [255, 254, 253, 252]
    assert isinstance(graph._executable, Replay)


def test_graph_that_is_closed_gives_its_arena_back(device, stream):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    before = device.memory_info().in_use
    with stream.capture() as graph:
        Mix(other=None).on(device)(stream, x=x, out=out)
    graph.slot("x", x)
    graph.launch(stream)
    assert device.memory_info().in_use == before + 8
    graph.close()
    gc.collect()
    stream.synchronize()
    assert device.memory_info().in_use == before


def test_exactly_in_place_is_as_good_as_the_stages_are(device, stream):
    x = holding(stream, 1, 2, 3, 4)
    Mix(other=None).on(device)(stream, x=x, out=x)
    assert content(stream, x) == [255, 254, 253, 252]
    device._primitives.clear()
    late = (ep.Stage(manual.Negate(x=SPEC, out=SPEC), x="x", out="out"), ep.Stage(add(), a="out", b="x", out="out"))
    with pytest.raises(
        ValueError, match=r"^mix.lower: stage 1, add/.*, reads x after out, which may be the same memory"
    ):
        Mix(*late, other=None).on(device)


NEGATE = manual.Negate(x=SPEC, out=SPEC)


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (ep.Stage(NEGATE, x="y", out="out"), "reads the temporary y for x, which no stage before it writes"),
        (ep.Stage(NEGATE, x="x"), "is given x, needs each of x, out that has no default"),
        (ep.Stage(NEGATE, x="x", out="out", z="x"), "is given x, out, z, needs each of x, out"),
        (ep.Stage(NEGATE, x="spare", out="out"), "reads the temporary spare for x, which no stage before it writes"),
        (ep.Stage(NEGATE, x="out", out="x"), "writes x, which the whole only reads; write a temporary"),
        (
            ep.Stage(manual.Scale(x=WORDS, out=WORDS), factor=1, x="x", out="t"),
            "touches 8 bytes of x, which has 4",
        ),
        (
            ep.Stage(manual.Scale(x=WORDS, out=WORDS), factor="n", x="t", out="u"),
            "reads the temporary t for x",
        ),
        (
            ep.Stage(add(a=ep.TensorSpec("int8", (4,), (-1,), 3)), a="out", b="x", out="out"),
            "has a and out in out, which out writes",
        ),
    ],
)
def test_stages_that_fit_nowhere_are_named(device, stage, message):
    with pytest.raises(ValueError, match=rf"^mix.lower: stage 0, .*, {message}"):
        Mix(stage, other=None).on(device)


@pytest.mark.parametrize("lowered", [None, NEGATE, (NEGATE,), "stages"])
def test_what_is_no_stage_is_refused(monkeypatch, device, lowered):
    monkeypatch.setattr(Twice, "lower", lambda _: lowered)
    with pytest.raises(TypeError, match=r"^twice.lower returned .*, needs a sequence of ep.Stage"):
        Twice().on(device)


def test_number_of_another_type_is_refused(monkeypatch, device):
    scale = manual.Scale(x=WORDS, out=WORDS)
    monkeypatch.setattr(Scaled, "lower", lambda _: (ep.Stage(scale, factor="x", x="x", out="out"),))
    with pytest.raises(ValueError, match=r"takes the number x for factor as Scalar.*, and the whole has TensorSpec"):
        Scaled().on(device)


def test_number_is_no_tensor(monkeypatch, device):
    scale = manual.Scale(x=WORDS, out=WORDS)
    monkeypatch.setattr(Scaled, "lower", lambda _: (ep.Stage(scale, factor=1, x="factor", out="out"),))
    with pytest.raises(ValueError, match=r"stage 0, .*, names factor for x, which is a number of the whole's"):
        Scaled().on(device)


def test_what_a_stage_lacks_is_told_and_asked_without_compiling(provider, device):
    assert served(device, Mix(), []) == "lowered"
    assert served(device, add(), []) == "native"
    provider.twin.table[manual.Negate] = (
        manual.Strategy("Picky", manual.NegateKernel, answer=ep.UnsupportedError("only on Sundays")),
    )
    device._primitives.clear()
    reasons = []
    assert served(device, Mix(), reasons) == "none"
    assert reasons == ["Picky: only on Sundays"]
    with pytest.raises(ep.UnsupportedError, match=r"^mix/-/int8/dense: unsupported on manual:0") as caught:
        Mix().on(device)
    assert caught.value.reasons == (
        "manual has no implementation of mix",
        "it lowers to negate/-/int8/dense, which is unsupported, too",
        "Picky: only on Sundays",
    )


def test_nothing_runs_for_empty_outputs(device, stream):
    primitive = Scaled(out=ep.TensorSpec("int32", (0,))).on(device)
    assert primitive.scratch_nbytes == 0
    enqueued = stream.twin.enqueued
    primitive(stream, x=device.allocate(8), out=device.allocate(0))
    assert stream.twin.enqueued == enqueued


def test_lifetimes_that_meet_lie_apart_and_others_share():
    begins, nbytes = packed([Lifetime(0, 1, 5), Lifetime(1, 2, 9), Lifetime(2, 3, 4), Lifetime(3, 3, 16)], 4)
    assert begins == [12, 0, 16, 0]
    assert nbytes == 20
    assert packed([], 64) == ([], 0)
    rng = random.Random(7)
    for _ in range(300):
        stages = [sorted(rng.choices(range(6), k=2)) for _ in range(rng.randrange(1, 9))]
        needed = [Lifetime(*stage, rng.randrange(40)) for stage in stages]
        begins, nbytes = packed(needed, 8)
        assert all(begin % 8 == 0 and begin + one.nbytes <= nbytes for begin, one in zip(begins, needed, strict=True))
        for (here, one), (there, other) in itertools.combinations(zip(begins, needed, strict=True), 2):
            is_apart = here + one.nbytes <= there or there + other.nbytes <= here
            assert is_apart or one.last < other.first or other.last < one.first
        assert nbytes <= sum(-(-one.nbytes // 8) * 8 for one in needed)
    assert packed([Lifetime(0, 4, 0)], 64) == ([0], 0)
