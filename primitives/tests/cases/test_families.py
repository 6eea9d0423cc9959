"""Data that the cases of every family must have: each test names the families that lack it."""

import numpy as np
import pytest
from ep.layout.role import INPUT
from ep.plugin.family import by_name
from ep_primitives import ep_families
from ep_primitives.families import parts
from ep_primitives.judging.accuracy import Conditioned
from ep_primitives.judging.lack import Ranks
from every_case import every_case

import ep
from ep import TensorSpec

FAMILIES = {family.name: family for family in ep_families()}
MOST_QUICK_BYTES = 16 << 20
LEAST_OUTPUTS = 256
RUN = 97
"""About so many cases of each family are drawn and computed."""

RANKS = {ranks.family: ranks for module in parts("lacks") for ranks in getattr(module, "RANKS", ())}

by_family = pytest.mark.parametrize("name", FAMILIES)


def small(name):
    return [
        item for item in every_case(name) if item[1].profile == "quick" and item[1].descriptor.nbytes_moved <= 1 << 20
    ]


def drawn(name):
    """Yield cases from all over the family, with their data."""
    found = small(name)
    for cell, case in found[:: max(1, len(found) // RUN)]:
        yield cell, case, case.data(np.random.default_rng(7))


def tensors(name):
    return [spec for _, case in every_case(name) for spec in case.descriptor.specs if isinstance(spec, TensorSpec)]


@by_family
def test_cells_have_the_layouts_that_the_family_names(name):
    family = FAMILIES[name]
    assert {cell.layout for cell in family.cells()} == set(family.layouts)


@by_family
def test_shifts_suit_every_operand(name):
    shifted = [(cell, case) for cell, case in every_case(name) if case.shift]
    assert [
        f"{cell}/{case.name}"
        for cell, case in shifted
        if any(case.shift % spec.itemsize for spec in case.descriptor.specs if isinstance(spec, TensorSpec))
    ] == []
    assert shifted or "offset" not in FAMILIES[name].layouts


@by_family
def test_ranks_go_to_16_and_down_to_the_lowest(name):
    """Lowest ranks: 2 for matrices, 1 with channels, joined or split dimensions, else 0. Windows double 6."""
    ranks = {spec.ndim for spec in tensors(name)}
    wanted = RANKS.get(name, Ranks(name))
    assert max(ranks) == wanted.most
    assert min(ranks) <= wanted.least


@by_family
def test_extents_of_nothing_and_of_one_are_tried(name):
    extents = {extent for spec in tensors(name) for extent in spec.shape}
    assert {0, 1} <= extents


@by_family
def test_inputs_of_strided_cells_lie_in_every_way(name):
    """With negative strides, and where the family reads tensors element by element, with zero strides."""
    strided = [case.descriptor for cell, case in every_case(name) if cell.layout == "strided"]
    inputs = [
        spec
        for descriptor in strided
        for role, spec in descriptor.tensors
        if role.use == INPUT and spec is not None and spec.size > 1
    ]
    outs = [descriptor.out for descriptor in strided]
    assert any(spec.strides != ep.layout.spec.dense_strides(spec.shape) for spec in outs), "no output but dense ones"
    if inputs:
        assert any(min(spec.strides, default=0) < 0 for spec in inputs), "no negative stride"
        assert any(0 in spec.strides for spec in inputs), "no zero stride"


@by_family
def test_every_operand_that_out_may_share_is_shared_in_a_case(name):
    shared = {case.inplace for _, case in every_case(name)} - {None}
    allowed = {role.name for _, case in every_case(name) for role in case.descriptor.roles if role.shares}
    assert {operand.rstrip("0123456789") for operand in shared} == {operand.rstrip("0123456789") for operand in allowed}


@by_family
def test_quick_cases_are_small(name):
    quick = [case for _, case in every_case(name) if case.profile == "quick"]
    large = {case.name for case in quick if case.descriptor.nbytes_moved > MOST_QUICK_BYTES}
    assert not large


@by_family
def test_references_are_of_the_outputs_shape_and_mostly_finite(name):
    """Some case has finite results throughout, unless bits are compared: NaN and infinities hide faults beside them."""
    is_finite = []
    for cell, case, inputs in drawn(name):
        references = by_name(case.descriptor, FAMILIES[name].reference(case.descriptor, inputs))
        moved = by_name(case.descriptor, FAMILIES[name].moved(case.descriptor, inputs))
        for output, spec in case.descriptor.outputs.items():
            reference, value = references[output], np.asarray(references[output].value)
            assert value.shape == spec.shape, str(cell)
            if reference.scale is not None:
                assert np.broadcast_shapes(np.shape(reference.scale), value.shape) == value.shape, str(cell)
                assert not (np.asarray(reference.scale) < 0).any(), str(cell)
            is_moved = moved[output] is not None
            if is_moved or (value.dtype.kind in "fc" and value.size > 1):
                is_finite.append(is_moved or bool(np.isfinite(value).all()))
    assert not is_finite or any(is_finite)


@by_family
def test_bounds_fit_the_references(name):
    for cell, case, inputs in drawn(name):
        accuracy = case.accuracy or FAMILIES[name].accuracy(case.descriptor)
        if isinstance(accuracy, Conditioned):
            references = by_name(case.descriptor, FAMILIES[name].reference(case.descriptor, inputs))
            scales = [references[output].scale for output in case.descriptor.outputs]
            assert all(scale is not None for scale in scales), f"{cell}/{case.name}"


@by_family
def test_moved_elements_are_of_the_outputs_type_and_shape(name):
    for cell, case, inputs in drawn(name):
        for written, moved in by_name(case.descriptor, FAMILIES[name].moved(case.descriptor, inputs)).items():
            if moved is not None:
                spec = case.descriptor.present[written]
                assert moved.shape == spec.shape, str(cell)
                assert moved.dtype.itemsize == spec.itemsize, str(cell)


@by_family
def test_sums_whose_bias_is_measured_are_many_and_have_a_scale(name):
    for cell, case in every_case(name):
        if case.summands:
            inputs = case.data(np.random.default_rng(3))
            reference = FAMILIES[name].reference(case.descriptor, inputs)
            assert case.descriptor.out.size >= LEAST_OUTPUTS, str(cell)
            assert reference.scale is not None, str(cell)
            factor = reference.scale / np.abs(np.asarray(reference.value, np.complex128))
            assert factor.min() > 0.98, str(cell)
            assert factor.max() < 1.02 * factor.min(), f"{cell}: the sizes that errors are measured by differ"


def test_families_that_sum_have_a_case_for_bias():
    summing = {name for name in FAMILIES if any(case.summands for _, case in every_case(name))}
    assert summing >= {"matmul"} | ({"reduce"} & set(FAMILIES))


def test_families_of_rows_have_parts():
    """All that round must have some, but those that say why they have none."""
    rounded = {
        name
        for name, family in FAMILIES.items()
        if any(str(family.accuracy(case.descriptor)) != "exact" for _, case in small(name))
    }
    parted = {
        name for name, family in FAMILIES.items() if any([*family.parts(case.descriptor)] for _, case in small(name))
    }
    lacking = {lack.family for module in parts("lacks") for lack in getattr(module, "LACKS", ()) if lack.of == "parts"}
    assert rounded - parted <= lacking
