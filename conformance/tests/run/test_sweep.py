"""All float32 of an op: every input is in exactly one slice, and the worst of them is reported."""

import dataclasses

import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.native import Worst
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import cell_cases
from ep_conformance.plan.sweep import sweeps
from ep_conformance.run.steps.sweep import run_sweep

import ep


def slices(op):
    return [*sweeps(ep.families()["elementwise_unary"], ep.Cell("elementwise_unary", op, "float32", "dense"))]


def test_slices_hold_every_float32_once():
    found = slices("exp")
    assert [sweep.first for sweep in found] == [*range(0, 1 << 32, 1 << 26)]
    assert len({sweep.name for sweep in found}) == 64


@pytest.mark.parametrize(("dtypes", "layout"), [("float64", "dense"), ("float32", "strided")])
def test_only_dense_float32_is_swept(dtypes, layout):
    assert not [*sweeps(ep.families()["elementwise_unary"], ep.Cell("elementwise_unary", "exp", dtypes, layout))]


def test_slices_are_cases_of_the_exhaustive_profile_alone():
    family, cell = ep.families()["elementwise_unary"], ep.Cell("elementwise_unary", "exp", "float32", "dense")
    names = {profile: {found.id for found in cell_cases(family, cell, profile)} for profile in ("large", "exhaustive")}
    assert len(names["exhaustive"] - names["large"]) == 64
    assert names["large"] < names["exhaustive"]


@pytest.fixture
def swept(monkeypatch):
    """Run a small part of a slice on the CPU, around 1.0."""
    monkeypatch.setattr("ep_conformance.run.steps.sweep.INPUTS", 1 << 17)

    def run(sweep):
        trial = Trial(ep.device("cpu:0"), sweep.name)
        try:
            return run_sweep(trial, ep.families()["elementwise_unary"], sweep)
        finally:
            trial.close()

    return run


def around_one(op):
    return dataclasses.replace(slices(op)[0], first=int(np.float32(1).view(np.uint32)) - (1 << 16))


def test_worst_error_is_reported_with_its_input(swept):
    outcome = swept(around_one("exp"))
    assert 0 < outcome.margin <= 1
    assert outcome.error == pytest.approx(3 * outcome.margin)
    x = float(outcome.at.removeprefix("x="))
    assert 0.99 < x < 1.01


@pytest.mark.parametrize("op", ["exp", "digamma", "relu"])
def test_comparison_that_is_blind_is_mistrusted(swept, monkeypatch, op):
    assert swept(around_one(op)).status is Status.PASS
    monkeypatch.setattr("ep_conformance.run.steps.sweep._measured", lambda *_: Worst(0.0, 0.0, 0, 0))
    outcome = swept(around_one(op))
    assert outcome.status is Status.MISTRUSTED
    assert "could not have shown a fault" in outcome.reason


def test_wrong_result_fails_with_its_input(swept, monkeypatch):
    family = ep.families()["elementwise_unary"]
    honest = type(family).reference

    def off_by_a_little(self, descriptor, inputs):
        reference = honest(self, descriptor, inputs)
        value = np.where(inputs["x"] == np.float32(1), 2.72, reference.value)
        return type(reference)(value, reference.scale, reference.error)

    monkeypatch.setattr(type(family), "reference", off_by_a_little)
    with pytest.raises(CaseError, match=r"exp\(x\[0\]=1.0\)=2.72"):
        swept(around_one("exp"))
