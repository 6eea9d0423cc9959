"""A family of two outputs and an optional input through the whole of a case, with kernels that are wrong in one of them."""

import ctypes
import json

import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.decoys import blind_to
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import CellCase
from ep_conformance.replay.file import Replay, Work, replay_of
from ep_conformance.replay.script import script_of
from ep_conformance.replay.smaller import smaller
from ep_conformance.report.explain import held_to
from ep_conformance.run.steps import path
from ep_conformance.run.steps.path import run_case
from ep_primitives import Case, Exact, Reference, Ulps
from ep_primitives.judging import layout
from ep_primitives.judging.origin import broadcast_origin

import ep

SPEC = ep.TensorSpec("float32", (37,))


class SumGap(ep.Descriptor):
    """total, gap = a + b, a - b, c more of either if there is one; draws grows by the elements."""

    family = "sum_gap"
    roles = ep.Roles(
        ep.Role.input("a", shares=("gap",)),
        ep.Role.input("b"),
        ep.Role.input("c", is_optional=True),
        ep.Role.state("draws"),
        ep.Role.output("total"),
        ep.Role.output("gap"),
    )
    __slots__ = ()

    def __init__(self, *, a=SPEC, b=SPEC, c=None, total=SPEC, gap=SPEC):
        self._freeze("-", (a, b, c, ep.TensorSpec("int64", (1,)), total, gap))

    @property
    def geometry(self):
        return ep.Geometry((self.out.size,), ((1,),) * 6, (0,) * 6, self.out.size, is_dense=True)


class SumGapFamily(ep.Family):
    name = "sum_gap"
    descriptor = SumGap

    def cells(self):
        yield ep.Cell("sum_gap", "-", "float32,int64->float32", "dense")

    def sample(self, cell):
        return SumGap()

    def since(self, cell):
        return "1.0"

    def cases(self, cell):
        return ()

    def reference(self, descriptor, inputs):
        a, b, c = (np.asarray(inputs.get(name, 0.0), np.float64) for name in ("a", "b", "c"))
        return {"total": Reference(a + b + c), "gap": Reference(a - b + c)}

    def moved(self, descriptor, inputs):
        return {"draws": inputs["draws"] + descriptor.out.size}

    def origin(self, descriptor, inputs, output, at):
        assert output in {"total", "gap"}
        return broadcast_origin(descriptor, at)

    def accuracy(self, descriptor):
        return {"total": Ulps(1, floor=1e-6), "gap": Ulps(2, floor=1e-6)}


class PairKernel(ep.Kernel):
    """Computes on the host, then does what a defect does to the arrays."""

    def __init__(self, descriptor, defect):
        self.descriptor, self.defect, self.launches = descriptor, defect, 0

    def launch(self, stream, memories, scalars):
        self.launches += 1
        given = self.descriptor.named(memories, scalars)
        arrays = {name: layout.view(spec, given[name].host()) for name, spec in self.descriptor.present.items()}
        before = {name: array.copy() for name, array in arrays.items()}
        c = before.get("c", np.float32(0))
        arrays["total"][...] = before["a"] + before["b"] + c
        arrays["gap"][...] = before["a"] - before["b"] + c
        arrays["draws"] += self.descriptor.out.size
        self.defect(self, arrays, before, given)


class Pairs(ep.Implementation):
    def __init__(self, defect):
        self.defect = defect

    def accepts(self, descriptor, info):
        return True

    def create(self, descriptor, device, code):
        return PairKernel(descriptor, self.defect)


def behind(memory):
    """Return the four bytes past the end of a memory."""
    end = ctypes.addressof(ctypes.c_char.from_buffer(memory.host())) + memory.nbytes
    return (ctypes.c_ubyte * 4).from_address(end)


@pytest.fixture
def run(monkeypatch):
    """Run a case with a kernel that has a defect."""
    device = ep.device("cpu:0")
    trials = []

    def run(defect=lambda *_: None, data=None, inplace=None, **specs):
        table = {**device.provider.implementations, SumGap: (Pairs(defect),)}
        monkeypatch.setattr(type(device.provider), "implementations", table)
        device._primitives.clear()
        trials.append(Trial(device, f"primitives/sum_gap/-/float32/dense/{len(trials)}"))
        return run_case(trials[-1], SumGapFamily(), Case("x", SumGap(**specs), data or drawn, inplace=inplace))

    yield run
    device._primitives.clear()
    for trial in trials:
        trial.close()


def drawn(rng, *, c=False):
    names = ("a", "b", "c") if c else ("a", "b")
    return {name: rng.uniform(0.5, 2, 37).astype(np.float32) for name in names} | {"draws": np.array([5])}


def test_right_results_pass_whole_and_in_place(run):
    launches = []
    outcome = run(lambda kernel, *_: launches.append(kernel.launches))
    assert outcome.status is Status.PASS
    assert outcome.attested in {"attested", "native"}
    assert max(launches) >= 2
    assert run(inplace="a").status is Status.PASS
    assert run(c=SPEC, data=lambda rng: drawn(rng, c=True)).status is Status.PASS


def test_margin_is_that_of_the_output_nearest_to_its_bound(run):
    def lean(kernel, arrays, before, given):
        arrays["gap"][5] = np.nextafter(arrays["gap"][5], np.float32(9))

    outcome = run(lean)
    assert outcome.status is Status.PASS
    assert 0 < outcome.margin < 1
    assert outcome.at.startswith("a[5]=")


@pytest.mark.parametrize(("name", "bound"), [("total", 1), ("gap", 2)])
def test_wrong_element_of_either_output_is_named(run, name, bound):
    def spoil(kernel, arrays, before, given):
        arrays[name][7] *= np.float32(1.001)

    outcome = run(spoil)
    assert outcome.status is Status.FAIL
    assert f", {name}[7]=" in outcome.reason
    assert outcome.reason.startswith("sum_gap(a[7]=")
    assert outcome.details["operand"] == name
    assert outcome.margin > bound


def test_swapped_outputs_are_found(run):
    def swap(kernel, arrays, before, given):
        arrays["total"][...], arrays["gap"][...] = arrays["gap"].copy(), arrays["total"].copy()

    assert run(swap).status is Status.FAIL


@pytest.mark.parametrize("name", ["total", "gap"])
def test_output_left_as_it_was_is_found(run, name):
    def forget(kernel, arrays, before, given):
        arrays[name][...] = before[name]

    outcome = run(forget)
    assert (outcome.status, outcome.details["operand"]) == (Status.FAIL, name)


@pytest.mark.parametrize("name", ["total", "gap"])
@pytest.mark.parametrize("combine", [np.maximum, np.minimum])
def test_output_that_is_combined_with_what_it_held_is_found(run, name, combine):
    def mix(kernel, arrays, before, given):
        combine(arrays[name], before[name], out=arrays[name])

    assert run(mix).status is Status.FAIL


@pytest.mark.parametrize("name", ["total", "gap", "draws", "b"])
def test_write_behind_any_operand_is_found(run, name):
    def stray(kernel, arrays, before, given):
        behind(given[name])[0] ^= 1

    with pytest.raises(CaseError, match=f"{name}: a write 1 byte past the end of its tensor"):
        run(stray)


def test_write_into_an_input_is_found(run):
    def clear(kernel, arrays, before, given):
        arrays["b"][3] = 0

    with pytest.raises(CaseError, match=r"b: a write to byte 1[2-5], which is no element to be written"):
        run(clear)


def test_write_between_the_elements_of_the_second_output_is_found(run):
    def fill(kernel, arrays, before, given):
        np.frombuffer(given["gap"].host(), np.float32)[1] = 0

    apart = ep.TensorSpec("float32", (37,), (2,))
    assert run(gap=apart).status is Status.PASS
    with pytest.raises(CaseError, match=r"gap: a write to byte [4-7], which is no element"):
        run(fill, gap=apart)


def test_state_is_held_to_its_bits(run):
    def stay(kernel, arrays, before, given):
        arrays["draws"][...] = before["draws"]

    with pytest.raises(CaseError, match=r"draws was \[5\] and is \[5\] after the launch, needed \[42\]"):
        run(stay)


def test_optional_input_that_is_forgotten_is_found(run):
    def forget(kernel, arrays, before, given):
        arrays["gap"][...] = before["a"] - before["b"]

    assert run(forget).status is Status.PASS
    assert run(forget, c=SPEC, data=lambda rng: drawn(rng, c=True)).status is Status.FAIL


def test_second_output_that_differs_from_launch_to_launch_is_found(run, monkeypatch):
    def drift(kernel, arrays, before, given):
        arrays["gap"][5] = np.nextafter(arrays["gap"][5], np.float32(9 - 18 * (kernel.launches % 2)))

    monkeypatch.setattr(path, "warm_up", lambda *_: None)
    with pytest.raises(CaseError, match=r"gap\[5\] .* as an equal launch before gave"):
        run(drift)


def test_data_that_do_not_tell_the_outputs_apart_are_mistrusted(run):
    def same(rng):
        return drawn(rng) | {"b": np.zeros(37, np.float32)}

    outcome = run(data=same)
    assert outcome.status is Status.MISTRUSTED
    assert "gap in its place would pass as well" in outcome.reason


def test_decoys_hold_other_outputs_of_like_type_and_shape_alone():
    right = np.linspace(1, 2, 37, dtype=np.float32)

    def measure(found):
        class Comparison:
            passes = found.dtype == np.float32 and np.array_equal(found, right)

        return Comparison

    assert blind_to(right, {"a": right}, measure, {"gap": right.copy()}) == "gap in its place"
    assert blind_to(right, {"a": right}, measure, {"gap": right.astype(np.float64), "low": right[:5]}) == ""


def test_family_states_what_each_output_is_held_to():
    assert held_to(SumGap(), SumGapFamily().accuracy(SumGap())) == {
        "total": Ulps(1, floor=1e-6),
        "gap": Ulps(2, floor=1e-6),
    }
    assert held_to(SumGap(), Exact()) == {"": Exact()}


def test_no_smaller_work_is_looked_for_where_several_are_written(run):
    case = Case("x", SumGap(), drawn)
    found = CellCase("x", ep.Cell("sum_gap", "-", "float32", "dense"), SumGapFamily(), case)
    outcome = run(lambda kernel, arrays, *_: arrays["gap"].fill(0))
    assert outcome.details["kind"] == "element"
    assert smaller(found, case, drawn(np.random.default_rng(1)), outcome, pytest.fail) is None


def test_case_in_place_says_which_output_lies_there():
    assert Case("x", SumGap(), drawn, inplace="a").target == "gap"


@pytest.mark.parametrize("inplace", [None, "a"])
def test_failure_of_the_second_output_is_written_down(run, monkeypatch, tmp_path, inplace):
    data = drawn(np.random.default_rng(1))
    outcome = run(lambda kernel, arrays, *_: arrays["gap"].fill(0), data=lambda _: data, inplace=inplace)
    monkeypatch.setattr(ep, "families", lambda: {"sum_gap": SumGapFamily()})
    work = Work.of(Case("x", SumGap(), drawn, inplace=inplace), data)
    of = {"name": "cpu"}, {"name": "cpu:0"}, {}
    written = Replay("primitives/sum_gap/x", 0, "quick", "fail", outcome.reason, *of, outcome.details, work)
    read = replay_of(json.loads(json.dumps(written.as_json())))
    assert read.work.descriptor == SumGap()
    assert read.work.values["draws"] == [5]
    script = script_of(read, tmp_path / "x.json", "cpu:0")
    assert 'given = layout.gather(specs["gap"], back, start["gap"])' in script
    assert f'back = images["{inplace or "gap"}"].copy()' in script
    assert ('gap=views["a"]' in script) == (inplace == "a")


def test_replay_does_not_hold_operands_that_the_descriptor_has_not(monkeypatch):
    monkeypatch.setattr(ep, "families", lambda: {"sum_gap": SumGapFamily()})
    data = drawn(np.random.default_rng(1), c=True)
    table = Work.of(Case("x", SumGap(), drawn), data).as_json()
    of = {"name": "cpu"}, {"name": "cpu:0"}, {}
    written = Replay("x", 0, "quick", "fail", "", *of).as_json() | {"work": table}
    with pytest.raises(ValueError, match="sum_gap has no operand 'c'"):
        replay_of(written)
