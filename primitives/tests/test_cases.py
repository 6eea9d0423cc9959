import collections
import math

import numpy as np
import pytest
from ep_primitives import Exact, Ulps, data, ep_families
from ep_primitives.domain import DECAY, REAL, UNIT
from ep_primitives.reference import array_dtype

import ep
from ep import Scalar

FAMILIES = ep_families()
CASES = [(family, cell, case) for family in FAMILIES for cell in family.cells() for case in family.cases(cell)]
SMALL = [item for item in CASES if item[2].profile != "large"]


def identity(cell, case):
    return f"{cell}/{case.name}"


def generator(cell, case):
    return np.random.default_rng([ord(letter) for letter in identity(cell, case)])


def test_case_ids_are_unique_and_readable():
    ids = [identity(cell, case) for _, cell, case in CASES]
    assert len(ids) == len(set(ids))
    assert all(part and " " not in part for name in ids for part in name.split("/"))


def test_every_cell_has_a_quick_case():
    quick = {str(cell) for _, cell, case in CASES if case.profile == "quick"}
    assert quick == {str(cell) for family in FAMILIES for cell in family.cells()}


def test_data_fits_the_operands_and_the_reference_fits_the_output():
    for family, cell, case in SMALL:
        descriptor = case.descriptor
        inputs = case.data(generator(cell, case))
        assert sorted(inputs) == sorted(descriptor.operands[:-1])
        for name, spec in zip(descriptor.operands, descriptor.specs[:-1], strict=False):
            value = inputs[name]
            if isinstance(spec, Scalar):
                held = ep.dtypes.convert(spec.dtype, value)
                assert held == value or math.isnan(value), identity(cell, case)
            else:
                assert (value.shape, value.dtype) == (spec.shape, array_dtype(spec.dtype)), identity(cell, case)
        reference = family.reference(descriptor, inputs)
        assert reference.value.shape == descriptor.out.shape
        kind = ep.dtype(descriptor.out.dtype).kind
        assert reference.value.dtype == (np.float64 if kind == "f" else array_dtype(descriptor.out.dtype))


def test_equal_seeds_give_equal_data():
    for _, cell, case in SMALL[::37]:
        first, again = case.data(generator(cell, case)), case.data(generator(cell, case))
        for name, value in first.items():
            assert np.asarray(value).tobytes() == np.asarray(again[name]).tobytes()


def test_cases_lie_in_the_layout_of_their_cell():
    for _, cell, case in CASES:
        if case.inplace:
            assert cell.layout == "inplace"
            shared = case.descriptor.specs[case.descriptor.operands.index(case.inplace)]
            assert (shared.shape, shared.strides, shared.offset) == (
                case.descriptor.out.shape,
                case.descriptor.out.strides,
                case.descriptor.out.offset,
            )
        elif not case.shift:
            is_moved = any(spec.lo for spec in case.descriptor.specs if not isinstance(spec, Scalar))
            assert is_moved == (cell.layout == "offset"), identity(cell, case)
            if not any(getattr(spec, "offset", 0) for spec in case.descriptor.specs):
                assert case.descriptor.cell == str(cell), identity(cell, case)


def test_strided_cells_hold_every_kind_of_stride():
    strided = [case.descriptor for _, cell, case in SMALL if cell.layout == "strided"]
    specs = [spec for descriptor in strided for spec in descriptor.specs if not isinstance(spec, Scalar)]
    inputs = [spec for descriptor in strided for spec in descriptor.specs[:-1] if not isinstance(spec, Scalar)]
    assert any(0 in spec.strides for spec in inputs)
    assert any(min(spec.strides) < 0 for spec in specs)
    assert any(spec.ndim == 16 for spec in specs)
    assert any(descriptor.out.strides != ep.spec.dense_strides(descriptor.out.shape) for descriptor in strided)


def test_large_cases_need_more_than_31_bits():
    large = [case.descriptor for _, _, case in CASES if case.profile == "large"]
    assert {descriptor.family for descriptor in large} == {family.name for family in FAMILIES}
    assert all(descriptor.key.wide for descriptor in large)


def test_tables_and_exhaustive_cases_are_there():
    names = collections.Counter(case.name for _, _, case in CASES)
    assert names["table"] == 8
    exhaustive = [case for _, _, case in CASES if case.name == "exhaustive-16bit"]
    assert {case.descriptor.family for case in exhaustive} == {"elementwise_unary", "cast", "copy"}
    for case in exhaustive:
        assert np.unique(case.data(np.random.default_rng(0))["x"].view(np.uint16)).size == 65536


def _bits(array):
    return np.where(np.isnan(array), np.nan, array).tobytes()


def test_special_values_are_judged_bit_for_bit_and_the_reference_agrees():
    special = [item for item in SMALL if item[2].name.startswith("special-values")]
    assert len(special) > 80
    for family, cell, case in special:
        assert case.accuracy == Exact()
        dtype = array_dtype(case.descriptor.out.dtype)
        inputs = case.data(generator(cell, case))
        with np.errstate(over="ignore"):
            given = family.reference(case.descriptor, inputs).value.astype(dtype)
            wanted = case.expected().value.astype(dtype)
        assert _bits(given.astype(np.float64)) == _bits(wanted.astype(np.float64)), identity(cell, case)


def _wrong(value):
    yield np.zeros_like(value)
    yield np.roll(value.reshape(-1), 1).reshape(value.shape)


def test_no_case_would_accept_zeros_or_elements_out_of_place():
    for family, cell, case in SMALL:
        descriptor = case.descriptor
        has_tensors = any(not isinstance(spec, Scalar) for spec in descriptor.specs[:-1])
        if descriptor.out.size < 10 or not has_tensors:
            continue
        inputs = case.data(generator(cell, case))
        value = np.asarray((case.expected() if case.expected else family.reference(descriptor, inputs)).value)
        accuracy = case.accuracy or family.accuracy(descriptor)
        slack = accuracy.floor if isinstance(accuracy, Ulps) else 0.0
        for wrong in _wrong(value):
            with np.errstate(invalid="ignore", over="ignore"):
                same = value == wrong
                if value.dtype.kind == "f":
                    same |= np.isnan(value) & np.isnan(wrong)
                    same |= np.abs(value - wrong) <= max(slack, 1e-3 * np.nanmin(np.abs(value)))
            assert not same.all(), identity(cell, case)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "float64"])
def test_pairs_hold_equal_and_ordered_values_in_either_direction(dtype):
    rng = np.random.default_rng(5)
    for size in (15, 65, 1025):
        first = data.random(rng, dtype, (size,), REAL)
        second = data.partner(rng, first, data.random(rng, dtype, (size,), REAL))
        a, b = (v.view(np.uint8) != 0 if dtype == "bool" else v for v in (first, second))
        assert (a == b).sum() > size // 5
        assert (a < b).any()
        assert (a > b).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_floats_reach_every_part_of_their_type(dtype):
    info = np.finfo(dtype)
    values = data.random(np.random.default_rng(1), dtype, (20000,), REAL)
    size = np.abs(values[np.isfinite(values)])
    assert ((size > 0) & (size < info.smallest_normal)).sum() > 50
    assert (size > np.sqrt(float(info.max))).sum() > 50
    assert (values == 0).any()
    assert np.isnan(values).any()
    assert np.isinf(values).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_closed_domains_are_kept(dtype):
    rng = np.random.default_rng(2)
    for domain in (UNIT, DECAY):
        assert domain.contains(dtype, data.random(rng, dtype, (5000,), domain)).all()
        assert domain.contains(dtype, data.designed(dtype, domain)).all()
