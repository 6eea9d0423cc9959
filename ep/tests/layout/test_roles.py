"""Roles: several outputs, a state, an optional operand and a number with a default, of one descriptor."""

from __future__ import annotations

import pickle
from typing import Any

import manual
import numpy as np
import pytest
from ep.layout.cells import dtypes_name
from ep.layout.dims import merge
from ep.plugin.family import by_name
from graphs import content, holding

import ep

INT8 = ep.TensorSpec("int8", (4,))
INT16 = ep.TensorSpec("int16", (4,))


class Split(ep.Descriptor):
    """low, high = (x + bias) * step % 16, (x + bias) * step // 16; count grows by 1."""

    family = "split"
    roles = ep.Roles(
        ep.Role.input("x", shares=("low",)),
        ep.Role.input("bias", is_optional=True, is_inspected=True),
        ep.Role.number("step", default=1),
        ep.Role.number("spare", is_optional=True),
        ep.Role.state("count"),
        ep.Role.output("low"),
        ep.Role.output("high"),
    )
    __slots__ = ()

    def __init__(
        self, bias: ep.TensorSpec | None = None, low: ep.TensorSpec = INT8, high: ep.TensorSpec = INT16
    ) -> None:
        self._freeze("-", (INT8, bias, ep.Scalar("int8"), None, INT8, low, high))

    @property
    def geometry(self) -> ep.Geometry:
        return merge(self.out, [self.out] * len(self.specs))  # the second output may have another shape

    def check_contents(self, contents: Any) -> None:
        for name, values in contents.items():
            if (values < 0).any():
                message = f"split: {name} holds {values.min()}, needs at least 0; raise it"
                raise ValueError(message)


class SplitKernel(ep.Kernel):
    given: list[Any] = []  # noqa: RUF012 - emptied before each test

    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        self.given.append((memories, scalars))
        x, bias, count, low, high = [None if each is None else manual._content(each) for each in memories]
        step, spare = scalars
        assert spare is None

        def work() -> None:
            whole = [(each + (0 if bias is None else bias[at])) * step for at, each in enumerate(x)]
            count[0] += 1
            low[:] = bytes(each % 16 for each in whole)
            high.cast("h")[:] = memoryview(np.array(whole, np.int16) // 16)

        stream.enqueue(work)


@pytest.fixture(autouse=True)
def given(provider):
    SplitKernel.given.clear()
    provider.twin.table[Split] = (manual.Strategy("Plain", SplitKernel),)
    return SplitKernel.given


@pytest.fixture
def operands(device, stream):
    """Memories for a Split without bias."""
    sizes = {"x": 4, "count": 4, "low": 4, "high": 8}
    found = {name: holding(stream, *[0] * nbytes) for name, nbytes in sizes.items()}
    stream.upload(found["x"], bytes([1, 17, 34, 51]))
    return found


@pytest.fixture(params=["launch", "bind", "graph"])
def use(request, stream):
    def launch(primitive, **operands):
        primitive(stream, **operands)

    def bind(primitive, **operands):
        primitive.bind(**operands)(stream)

    def graph(primitive, **operands):
        with stream.capture() as captured:
            primitive(stream, **operands)
        captured.launch(stream)

    return {"launch": launch, "bind": bind, "graph": graph}[request.param]


def test_every_output_and_the_state_are_written(device, stream, operands, use):
    use(Split().on(device), **operands)
    use(Split().on(device), **operands, step=2)
    assert content(stream, operands["low"]) == [2, 2, 4, 6]
    assert content(stream, operands["high"]) == [0, 0, 2, 0, 4, 0, 6, 0]
    assert content(stream, operands["count"]) == [2, 0, 0, 0]


def test_absent_operands_keep_their_places(device, stream, operands, use, given):
    use(Split().on(device), **operands)
    use(Split(bias=INT8).on(device), **operands, bias=holding(stream, 1, 1, 1, 1))
    (without, numbers), (with_bias, _) = given
    assert [each is None for each in without] == [False, True, False, False, False]
    assert None not in with_bias
    assert numbers == (1, None)
    assert content(stream, operands["low"]) == [2, 2, 3, 4]


@pytest.mark.parametrize("more", [{}, {"step": 3}, {"bias": None}, {"bias": None, "spare": None, "step": 2}])
def test_short_way_takes_defaults_numbers_states_and_absent_operands(monkeypatch, device, stream, operands, more):
    monkeypatch.setattr(ep.Primitive, "_launchable", lambda *_: pytest.fail("the long way"))
    split = Split().on(device)
    split(stream, **operands, **more)
    split(stream, **operands | {"low": operands["x"]}, **more)
    assert len(stream.twin.queue) == 2 + 5


def test_operand_that_the_descriptor_was_made_without_is_refused(device, stream, operands, use, given):
    with pytest.raises(TypeError, match="operands are x, step, count, low, high; bias given, which the descriptor was"):
        use(Split().on(device), **operands, bias=operands["x"])
    with pytest.raises(TypeError, match=r"missing bias\Z"):
        use(Split(bias=INT8).on(device), **operands)
    with pytest.raises(TypeError, match=r"unknown stop\Z"):
        use(Split().on(device), **operands, stop=2)
    assert given == []


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("low", "high", "low and high share bytes .*in place is not allowed; give high"),
        ("count", "low", "count and low share bytes .* allowed for x; give low"),
        ("count", "high", "count and high share bytes"),
        ("x", "high", "x and high share bytes .*in place is not allowed; give high"),
        ("x", "count", "x and count share bytes .*in place is not allowed; give count"),
    ],
)
@pytest.mark.parametrize("shift", [0, 1])
def test_what_is_written_shares_no_byte_but_in_place(device, operands, use, given, one, other, text, shift):
    memory = device.allocate(16)
    places = {one: memory[:8], other: memory[2 * shift :]}
    with pytest.raises(ValueError, match=f"^split: {text}"):
        use(Split().on(device), **operands | places)
    assert given == []


@pytest.mark.parametrize("name", ["low", "high", "count"])
def test_too_small_or_closed_is_said_of_each_that_is_written(device, operands, use, name):
    split = Split().on(device)
    with pytest.raises(ValueError, match=f"split: {name} needs . bytes"):
        use(split, **operands | {name: operands[name][:0]})
    operands[name].close()
    with pytest.raises(ep.ClosedError, match="closed"):
        use(split, **operands)


def test_read_only_arrays_are_refused_for_every_output(provider, host):
    provider.twin.table[Split] = (manual.Strategy("Plain", SplitKernel),)
    split, stream = Split().on(host), host.stream()
    arrays = {"x": np.ones(4, np.int8), "count": np.zeros(4, np.int8), "low": np.zeros(4, np.int8)}
    high = np.zeros(4, np.int16)
    split(stream, **arrays, high=high)
    high.flags.writeable = False
    with pytest.raises(ValueError, match="high is read-only and would be written"):
        split(stream, **arrays, high=high)


def test_nothing_runs_only_if_all_outputs_are_empty(device, stream, operands, use, given):
    none = ep.TensorSpec("int8", (0,))
    use(Split(low=none, high=none).on(device), **operands)
    assert given == []
    assert (Split(low=none, high=none).layout, Split(low=none).is_empty) == ("empty", False)
    one = Split(low=none, high=INT8).on(device)
    with pytest.raises(ValueError, match="x and high share bytes"):
        use(one, **operands | {"high": operands["x"]})
    one(stream, **operands)
    one.bind(**operands)(stream)
    assert len(given) == 2


def test_cell_names_the_element_types_of_all_outputs():
    assert Split().cell == "split/-/int8->int8,int16/dense"
    assert Split(bias=INT16).cell == "split/-/int8,int16,int8,int8->int8,int16/dense"
    assert dtypes_name(["float32"], "float32", "float32") == "float32"
    assert dtypes_name(["float32"], "float32", "int64") == "float32->float32,int64"
    assert dtypes_name([], "float32", "int64") == "float32,int64"


def test_descriptor_says_what_is_there():
    without, biased = Split(), Split(bias=INT8)
    assert without.outputs == {"low": INT8, "high": INT16}
    assert without.out is without.outputs["low"]
    assert without.written == ("count", "low", "high")
    assert biased.present.keys() - without.present.keys() == {"bias"}
    assert "bias" not in repr(without)
    assert without != biased
    assert without.key.dtypes == ("int8", "", "int8", "", "int8", "int8", "int16")
    assert without.nbytes_moved == 4 + 4 + 4 + 8
    assert pickle.loads(pickle.dumps(biased)) == biased
    assert pickle.loads(pickle.dumps(Split.roles)) == Split.roles


def test_slots_rebind_the_second_output_beside_an_absent_operand(device, stream, operands):
    whole = device.allocate(8)
    with stream.capture() as graph:
        Split().on(device)(stream, **operands | {"low": whole[4:]})
    graph.slot("high", operands["high"])
    graph.slot("count", operands["count"])
    other = holding(stream, *[9] * 8)
    graph.launch(stream, high=other)
    assert content(stream, other) == [0, 0, 1, 0, 2, 0, 3, 0]
    assert content(stream, operands["high"]) == [0] * 8
    with pytest.raises(ValueError, match="high shares bytes with the captured memory of low"):
        graph.launch(stream, high=whole)
    with pytest.raises(ValueError, match="count shares bytes with the memory of slot high"):
        graph.launch(stream, count=operands["high"])


def test_contents_of_an_optional_operand_are_inspected_where_it_is_given(watched, device):
    memories = {
        name: holding(watched, *[0] * nbytes) for name, nbytes in (("x", 4), ("count", 4), ("low", 4), ("high", 8))
    }
    Split().on(device)(watched, **memories)
    biased, bias = Split(bias=INT8).on(device), holding(watched, 0, 255, 0, 0)
    for use in (biased, lambda stream, **operands: biased.bind(**operands)(stream)):
        with pytest.raises(ValueError, match=r"^split: bias holds -1, needs at least 0"):
            use(watched, **memories, bias=bias)


def test_what_a_family_answers_is_by_name():
    split = Split()
    assert by_name(split, 3) == {"count": None, "low": 3, "high": 3}
    assert by_name(split, {"high": 1, "count": 2}) == {"count": 2, "low": None, "high": 1}


class Halve(ep.Descriptor):
    """out = x // 2, and the bits that went, if somebody wants them."""

    family = "halve"
    roles = ep.Roles(ep.Role.input("x"), ep.Role.output("out"), ep.Role.output("rest", is_optional=True))
    __slots__ = ()

    def __init__(self, rest: ep.TensorSpec | None = None) -> None:
        self._freeze("-", (INT8, INT8, rest))


class HalveKernel(ep.Kernel):
    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        x, out, rest = [None if each is None else manual._content(each) for each in memories]

        def work() -> None:
            values = bytes(x)
            out[:] = bytes(each // 2 for each in values)
            if rest is not None:
                rest[:] = bytes(each % 2 for each in values)

        stream.enqueue(work)


def test_output_that_nobody_wants_is_absent(provider, device, stream, use):
    provider.twin.table[Halve] = (manual.Strategy("Plain", HalveKernel),)
    x, out, rest = holding(stream, 1, 2, 3, 4), device.allocate(4), device.allocate(4)
    use(Halve().on(device), x=x, out=out)
    assert content(stream, out) == [0, 1, 1, 2]
    assert (Halve().written, Halve().cell) == (("out",), "halve/-/int8/dense")
    use(Halve(rest=INT8).on(device), x=x, out=out, rest=rest)
    assert content(stream, rest) == [1, 0, 1, 0]
    assert Halve(rest=INT8).written == ("out", "rest")
    assert by_name(Halve(), 1) == {"out": 1}
    with pytest.raises(TypeError, match="rest given, which the descriptor was made without"):
        use(Halve().on(device), x=x, out=out, rest=rest)


def test_roles_that_make_no_sense_are_refused():
    x, out = ep.Role.input("x"), ep.Role.output("out")
    with pytest.raises(ValueError, match="a name stands twice"):
        ep.Roles(x, x, out)
    with pytest.raises(ValueError, match="first output is missing or optional"):
        ep.Roles(x)
    with pytest.raises(ValueError, match="first output is missing or optional"):
        ep.Roles(ep.Role.output("out", is_optional=True))
    with pytest.raises(ValueError, match="x shares y; an input may share outputs, here out"):
        ep.Roles(ep.Role.input("x", shares=("y",)), out)


@pytest.mark.parametrize(
    ("specs", "text"),
    [
        ((INT8,), "1 specs for 2 roles"),
        ((None, INT8), "the spec of x, an input, is None"),
        ((INT8, ep.Scalar("int8")), r"the spec of out, an output, is Scalar\('int8'\)"),
        ((INT8, None), "the spec of out, an output, is None"),
    ],
)
def test_specs_fit_the_roles(specs, text):
    roles = ep.Roles(ep.Role.input("x"), ep.Role.output("out"))
    roles.check_specs("Copy", (INT8, INT8))
    roles.check_specs("Copy", (ep.Scalar("int8"), INT8))
    with pytest.raises(TypeError, match=f"^Copy: {text}"):
        roles.check_specs("Copy", specs)
    with pytest.raises(TypeError, match="the spec of n, an number, is TensorSpec"):
        ep.Roles(ep.Role.number("n"), ep.Role.output("out")).check_specs("Fill", (INT8, INT8))
