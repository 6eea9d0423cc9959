"""Families that lower to stages pass their cases where a device has the stages alone, each stage attested."""

import re
from pathlib import Path

import pytest
from ep_conformance.judge.attestation import attest
from ep_conformance.judge.outcome import Status
from ep_conformance.run.worker import Job, execute
from ep_primitives import (
    Attention,
    BatchNorm,
    Convolution,
    CrossEntropy,
    Dequantize,
    GroupNorm,
    LayerNorm,
    Matmul,
    Pool,
    Quantize,
    RmsLayerNorm,
)

import ep

COMPOSED = (
    Attention,
    BatchNorm,
    Convolution,
    CrossEntropy,
    Dequantize,
    GroupNorm,
    LayerNorm,
    Pool,
    Quantize,
    RmsLayerNorm,
)
"""The families that lower to stages and have kernels of the CPU's own."""

FOLLOWED = (
    "convolution",
    "convolution_transposed",
    "pool",
    "attention",
    "group_norm",
    "batch_norm",
    "rms_layer_norm",
    "cross_entropy",
    "quantize",
    "dequantize",
    "lstm_cell",
    "gru_cell",
)
"""The families beside products and layer norms that lower to stages."""


class PlainProduct(ep.Implementation):
    """What the CPU does for products without bias and activation."""

    def __init__(self, row):
        self._row = row

    def accepts(self, descriptor, info):
        if descriptor.bias is not None or descriptor.activation != "none":
            raise ep.UnsupportedError("plain products only")
        return self._row.accepts(descriptor, info)

    def compile(self, key, device):
        return self._row.compile(key, device)

    def create(self, descriptor, device, code):
        return self._row.create(descriptor, device, code)


@pytest.fixture(params=["cpu:0", "sim:0"])
def device(request, monkeypatch):
    """Return a device whose provider has a plain product, and nothing for COMPOSED."""
    device = ep.device(request.param)
    twin = device.provider.twin
    table = dict(twin.implementations)
    table[Matmul] = tuple(map(PlainProduct, table[Matmul]))
    for lowered in COMPOSED:
        del table[lowered]
    monkeypatch.setattr(type(twin), "implementations", property(lambda _: table))
    device._primitives.clear()
    yield device
    device._primitives.clear()


def ids(family, chosen):
    """Return the quick cases of a family whose descriptors are chosen."""
    for cell in family.cells():
        for case in family.cases(cell):
            if case.profile == "quick" and chosen(case.descriptor):
                yield f"primitives/{cell}/{case.name}"


@pytest.mark.parametrize(
    ("family", "least", "step"),
    [
        ("matmul", 16, 9),
        ("layer_norm", 6, 9),
        *((family, 7, 15) for family in FOLLOWED),
        pytest.param("matmul", 150, 1, marks=pytest.mark.thorough),
        pytest.param("layer_norm", 60, 1, marks=pytest.mark.thorough),
        *(pytest.param(family, 100, 1, marks=pytest.mark.thorough) for family in FOLLOWED),
    ],
)
def test_cases_pass_lowered(device, family, least, step):
    """A sample of each, the larger of those that have kernels elsewhere; the quick run has the others whole."""
    lowered = [*ids(ep.families()[family], lambda descriptor: descriptor.on(device).stages)][::step]
    assert len(lowered) > least
    outcomes = {case: execute(device, case, Job(device.name, "quick", None, 0, None, Path())) for case in lowered}
    failed = {case: outcome.reason for case, outcome in outcomes.items() if outcome.status is not Status.PASS}
    assert not failed


def test_each_stage_is_attested(device, monkeypatch):
    x = ep.TensorSpec("float32", (4, 4))
    primitive = Matmul(a=x, b=x, out=x, bias=x).on(device)
    assert re.fullmatch(r"PlainProduct \+ \w+", primitive.implementation.name)
    assert attest(device, primitive, None) == "attested"
    table = device.provider.implementations
    monkeypatch.setattr(type(device.provider.twin), "implementations", property(lambda _: {**table, Matmul: ()}))
    assert attest(device, primitive, None) == "no"
