"""Conditions and faults of strangers: they name what there is, and never raise."""

import numpy as np
import pytest
from ep.dtypes import DTYPES
from ep_conformance.saboteurs.strangers.condition import Launch
from ep_conformance.saboteurs.strangers.fault import FAULTS
from ep_conformance.saboteurs.strangers.table import CONDITIONS
from ep_primitives.families.add_n.descriptor import AddN
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.judging.reference import array_dtype

import ep

FAMILIES = {family.name: family for family in ep.families().values()}
MATRIX = ep.TensorSpec("float32", (33, 33))


def launch(descriptor, **changes):
    tensors = [name for name, spec in descriptor.present.items() if isinstance(spec, ep.TensorSpec)]
    held = {
        "addresses": {name: 4096 * place for place, name in enumerate(tensors, 1)},
        "lies": dict.fromkeys(tensors, 0) | {name: place for place, name in enumerate(tensors)},
        "arrays": lambda name: np.ones(descriptor.present[name].shape, array_dtype(descriptor.present[name].dtype)),
        "launches": 1,
        "is_graph": False,
    }
    return Launch(descriptor, **(held | changes))


def met(given):
    return {condition.name for condition in CONDITIONS if condition.holds(given)}


def test_names_are_unique():
    names = [condition.name for condition in CONDITIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.name)
def test_families_and_layouts_exist(condition):
    assert condition.why.endswith(".")
    assert set(condition.families) <= FAMILIES.keys()
    assert len(set(condition.families)) == len(condition.families)
    for name in condition.families:
        assert set(condition.layouts) & set(FAMILIES[name].layouts), name
    assert set(condition.layouts) <= {layout for name in condition.families for layout in FAMILIES[name].layouts}


def test_conditions_answer_for_a_sum():
    found = met(launch(AddN(MATRIX, MATRIX, out=MATRIX)))
    assert {"inner-one-past-a-warp", "equal-strides"} & found == {"inner-one-past-a-warp"}
    one = {"x0": 4096, "x1": 4096, "out": 8196}
    found = met(launch(AddN(MATRIX, MATRIX, out=MATRIX), addresses=one, lies=dict.fromkeys(one, 0)))
    assert {"input-given-twice", "output-unaligned-alone"} <= found


def test_conditions_answer_for_a_product():
    found = met(launch(Matmul(a=MATRIX, b=MATRIX, out=MATRIX), launches=2))
    assert {"corner-tile", "numbers-again"} <= found
    assert not {"one-column", "depth-of-one"} & found


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_conditions_answer_for_every_family(family):
    for cell in {cell.dtypes: cell for cell in family.cells() if cell.layout != "empty"}.values():
        given = launch(family.sample(cell))
        for condition in CONDITIONS:
            assert condition.holds(given) in {True, False}, condition.name


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_change_what_they_can(fault):
    right = np.random.default_rng(0).random((5, 8), np.float32)
    out, before = right.copy(), np.full_like(right, 7)
    FAULTS[fault](out, before)
    assert (out != right).any()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (40,), (5, 8), (2, 1, 3)])
def test_faults_never_raise(fault, dtype, shape):
    out = (np.arange(int(np.prod(shape))) % 2 * 100).reshape(shape).astype(array_dtype(dtype))
    FAULTS[fault](out, out.copy())
    assert (out.shape, out.dtype.name) == (shape, dtype)
