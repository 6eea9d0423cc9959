"""One case of a family, run in this process on the CPU."""

import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge import result
from ep_conformance.judge.compare import compare
from ep_conformance.judge.expression import explain_failure
from ep_conformance.judge.outcome import Status
from ep_conformance.judge.output import Output
from ep_conformance.plan.catalogue import cell_cases
from ep_conformance.run.steps import path
from ep_conformance.run.steps.path import run_case
from ep_primitives import Case, ElementwiseUnary, Fill, Reference, Ulps

import ep

VECTOR = ep.TensorSpec("float32", (64,))
RELU = ElementwiseUnary("relu", x=VECTOR, out=VECTOR)


@pytest.fixture
def trial():
    made = Trial(ep.device("cpu:0"), "test")
    yield made
    made.close()


def run(trial, case):
    return run_case(trial, ep.families()[case.descriptor.family], case)


def test_right_result_passes_and_is_attested(trial):
    outcome = run(trial, Case("x", RELU, lambda rng: {"x": rng.standard_normal(64).astype(np.float32)}))
    assert outcome.status is Status.PASS
    assert outcome.attested in {"attested", "native"}
    assert outcome.margin is None


@pytest.mark.parametrize("value", [-1.0, 2.0])
def test_data_that_shows_nothing_is_mistrusted(trial, value):
    outcome = run(trial, Case("x", RELU, lambda _: {"x": np.full(64, value, np.float32)}))
    assert outcome.status is Status.MISTRUSTED
    assert "could not have shown" in outcome.reason


def test_data_is_drawn_again_until_it_shows_something(trial):
    draws = iter([np.zeros(64, np.float32), np.zeros(64, np.float32), np.linspace(-1, 1, 64, dtype=np.float32)])
    assert run(trial, Case("x", RELU, lambda _: {"x": next(draws)})).status is Status.PASS


def test_constant_output_without_tensor_inputs_is_trusted(trial):
    outcome = run(trial, Case("x", Fill.infer(VECTOR), lambda _: {"value": 3.0}))
    assert outcome.status is Status.PASS


def test_wrong_result_fails_with_an_expression(trial):
    wrong = Case(
        "x",
        RELU,
        lambda _: {"x": np.linspace(-1, 1, 64, dtype=np.float32)},
        expected=lambda: Reference(np.arange(64.0)),
    )
    outcome = run(trial, wrong)
    assert outcome.status is Status.FAIL
    assert outcome.reason.startswith("relu(x[")
    assert outcome.reason.endswith("on cpu:0")


def test_expression_can_be_read_aloud():
    spec = ep.TensorSpec("float32", (2, 2))
    exp = ElementwiseUnary("exp", x=spec, out=spec)
    x = np.array([[0, 1], [2, 3]], np.float32)
    reference = Reference(np.exp(x.astype(np.float64)))
    result = reference.value.astype(np.float32)
    result[1, 0] += np.float32(5 * 2.0**-21)
    comparison = compare(result, reference, Ulps(4), "float32")
    output = Output("out", spec, reference, Ulps(4), None, compare)
    text = explain_failure(ep.families()["elementwise_unary"], exp, {"x": x}, output, result, comparison)
    assert text.startswith("exp(x[1,0]=2.0)=7.389056, out[1,0]=7.38905")
    assert "ulp, bound 4; 1 of 4 elements)" in text


@pytest.mark.parametrize(("name", "text"), [("bias", "lean to one side"), ("variance", "lose more than rounding")])
@pytest.mark.parametrize("figure", [1.001, float("nan")])
def test_sums_whose_statistics_are_beyond_their_limit_fail(trial, monkeypatch, name, text, figure):
    (found,) = [
        each
        for each in cell_cases(ep.families()["reduce"], ep.Cell("reduce", "sum", "float32", "dense"), "quick")
        if each.case.name == "one-sign"
    ]
    assert run(trial, found.case).status is Status.PASS
    monkeypatch.setattr(result, name, lambda *_: figure)
    outcome = run(trial, found.case)
    assert outcome.status is Status.FAIL
    assert text in outcome.reason


def test_launch_that_is_wrong_behind_a_right_one_fails_without_a_promise_of_equal_bits(trial, monkeypatch):
    launch, images = path.launch, []

    def spoil(primitive, placed):
        images.append(launch(primitive, placed))
        if len(images) == 2:
            place = placed.tensors["out"].operand.start
            images[1]["out"][place : place + 4] ^= 0x40
        return images[-1]

    monkeypatch.setattr(path, "launch", spoil)
    monkeypatch.setattr(path, "warm_up", lambda *_: None)
    monkeypatch.setattr(path, "is_promised", lambda _: False)
    outcome = run(trial, Case("x", RELU, lambda _: {"x": np.linspace(-1, 1, 64, dtype=np.float32)}))
    assert outcome.status is Status.FAIL
    assert "the launch before it was right" in outcome.reason


def test_outputs_that_nobody_reads_are_poisoned_on_either_side(trial, monkeypatch):
    place, held = path.place, []

    def look(trial, primitive, turn):
        out = turn.drawn.tensors["out"]
        held.append(out.tensor(out.image).copy())
        return place(trial, primitive, turn)

    monkeypatch.setattr(path, "place", look)
    monkeypatch.setattr(path, "warm_up", lambda *_: None)
    run(trial, Case("x", RELU, lambda _: {"x": np.linspace(-1, 1, 64, dtype=np.float32)}))
    assert (held[0] > 1e16).all()
    assert (held[1] < -1e16).all()
