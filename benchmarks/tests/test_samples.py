"""Samples are found with their families, are of cells that the suite tries, and cover what is promised to be quick."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from ep_benchmarks.run.computed import elements
from ep_primitives.cases.sample import CACHED, SIZES, samples

import ep

SAMPLES = list(samples())


def test_every_family_has_samples():
    assert len(SAMPLES) >= 100
    assert {family.name for family, _ in SAMPLES} == set(ep.families())


def test_ids_are_unique():
    counts = Counter(sample.id for _, sample in SAMPLES)
    assert not [each for each, count in counts.items() if count > 1]


def test_samples_are_of_cells_that_the_suite_tries():
    cells = {family.name: {str(cell) for cell in family.cells()} for family in ep.families().values()}
    assert not [sample.id for family, sample in SAMPLES if sample.descriptor.cell not in cells[family.name]]


def test_cached_forms_are_of_their_samples_cells_and_as_large_as_caches_of_cores():
    forms = [(sample, sample.cached) for _, sample in SAMPLES if sample.cached]
    assert len({sample.descriptor.family for sample, _ in forms}) >= 15
    for sample, cached in forms:
        assert cached.cell == sample.descriptor.cell
        assert elements(cached) <= 2 * SIZES[CACHED], sample.id


@pytest.mark.parametrize(
    "sample", [sample for _, sample in SAMPLES if sample.is_quick], ids=lambda sample: str(sample.id)
)
def test_data_fits_the_descriptor(sample):
    data = sample.data(np.random.default_rng(1))
    present = sample.descriptor.present
    assert set(data) == {name for name in sample.descriptor.roles.read if name in present} - set(
        sample.descriptor.outputs
    )
    for name, value in data.items():
        if isinstance(value, np.ndarray):
            assert (value.dtype.name, value.shape) == (present[name].dtype, present[name].shape)


@pytest.mark.parametrize(
    "case",
    [
        "matmul/-/bfloat16/dense/2048",
        "matmul/-/int8->int32/dense/1024",
        "matmul/-/float32/dense/33x65x129",
        "matmul/-/float32/dense/1x4096x4096",
        "matmul/-/float32/dense/1000x16",
        "elementwise_unary/gelu/bfloat16/dense/16Mi",
        "softmax/-/float32/dense/64x262144",
        "permute/-/float32/dense/4096x4096",
        "pad/constant/float32/dense/64x128x32x32-by-1",
        "random_fill/normal/float32/dense/16Mi",
    ],
)
def test_what_was_slow_once_is_measured(case):
    found = {"/".join((*sample.descriptor.cell.split("/")[:3], sample.name)) for _, sample in SAMPLES}
    family, op, dtypes, _, name = case.split("/")
    assert any(
        each.startswith(f"{family}/{op}/") and each.endswith(f"/{name}") and each.split("/")[2].endswith(dtypes)
        for each in found
    )
