"""Evidence of who computed: without it right values are no pass."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from ep_conformance.judge.attestation import attest
from ep_conformance.judge.outcome import Status
from ep_conformance.run.steps import path
from ep_conformance.run.worker import Job, execute
from ep_primitives import ElementwiseUnary

import ep

VECTOR = ep.TensorSpec("float32", (64,))
CASE = "primitives/elementwise_unary/relu/float32/dense/size-17"


@pytest.mark.parametrize("part", ["implementation", "device"])
def test_stand_in_is_not_attested(part):
    device = ep.device("cpu:0")
    real = ElementwiseUnary("relu", x=VECTOR, out=VECTOR).on(device)
    parts = {name: getattr(real, name) for name in ("descriptor", "implementation", "device", "stages")}
    assert attest(device, SimpleNamespace(**parts), None) == "attested"
    assert attest(device, SimpleNamespace(**parts | {part: object()}), None) == "no"


def test_right_values_that_nothing_attests_fail(monkeypatch):
    monkeypatch.setattr(path, "attest", lambda *_: "no")
    outcome = execute(ep.device("cpu:0"), CASE, Job("cpu:0", "quick", None, 0, None, Path()))
    assert outcome.status is Status.FAIL
    assert "nothing attests" in outcome.reason
    assert outcome.reason.endswith("cpu:0")
