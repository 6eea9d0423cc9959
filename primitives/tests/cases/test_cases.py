import cmath
import functools
import itertools

import numpy as np
import pytest
from ep.plugin.family import by_name
from ep_primitives import BINARY_OPS, Exact, Ulps, ep_families
from ep_primitives.cases import data
from ep_primitives.elementwise import pairing
from ep_primitives.elementwise.domain import DECAY, EXPONENT, GRADIENT, REAL, UNIT
from ep_primitives.elementwise.op import COMPLEXES, EVERY, FLOATS
from ep_primitives.families import parts
from ep_primitives.judging import tables
from ep_primitives.judging.reference import array_dtype, limits, widened
from every_case import every_case

import ep
from ep import Scalar, TensorSpec

FAMILIES = ep_families()


def every():
    return ((family, cell, case) for family in FAMILIES for cell, case in every_case(family.name))


def is_small(case):
    """Say whether its output is small; asked last, since it makes the case's descriptor."""
    return case.profile != "large" and case.descriptor.out.size <= 2**16


@functools.cache
def sample():
    """A prime step meets every kind of case; one dense case of every signature comes on top."""
    chosen = [*itertools.islice(every(), 0, None, 61)] + [item for item in every() if item[2].name == "size-63"]
    return [item for item in chosen if is_small(item[2])]


def identity(cell, case):
    return f"{cell}/{case.name}"


def generator(cell, case):
    return np.random.default_rng([ord(letter) for letter in identity(cell, case)])


def test_case_ids_are_unique_and_readable():
    names = {}
    for _, cell, case in every():
        names.setdefault(cell, []).append(case.name)
    cells = {str(cell) for cell in names}
    assert len(cells) == len(names)
    assert all(len(of_cell) == len({*of_cell}) for of_cell in names.values())
    assert all(part and " " not in part for name in cells.union(*names.values()) for part in name.split("/"))


def test_every_cell_has_a_quick_case():
    quick = {str(cell) for _, cell, case in every() if case.profile == "quick"}
    assert quick == {str(cell) for family in FAMILIES for cell in family.cells()}


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.thorough)])
def test_data_fits_the_operands_and_the_reference_fits_the_output(step):
    for family, cell, case in sample()[::step]:
        descriptor = case.descriptor
        inputs = case.data(generator(cell, case))
        assert set(descriptor.present) - set(descriptor.outputs) <= set(inputs) <= set(descriptor.present)
        for name, value in inputs.items():
            spec = descriptor.present[name]
            if isinstance(spec, Scalar):
                held = ep.dtypes.convert(spec.dtype, value)
                assert held == value or cmath.isnan(value), identity(cell, case)
            else:
                assert (value.shape, value.dtype) == (spec.shape, array_dtype(spec.dtype)), identity(cell, case)
        references = by_name(descriptor, family.reference(descriptor, inputs))
        for name, spec in descriptor.outputs.items():
            assert references[name].value.shape == spec.shape
            wide = {"f": np.float64, "c": np.complex128}.get(ep.dtype(spec.dtype).kind)
            assert references[name].value.dtype == (wide or array_dtype(spec.dtype)), identity(cell, case)


def test_equal_seeds_give_equal_data():
    for _, cell, case in sample()[::7]:
        first, again = case.data(generator(cell, case)), case.data(generator(cell, case))
        for name, value in first.items():
            assert np.asarray(value).tobytes() == np.asarray(again[name]).tobytes()


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_cases_lie_in_the_layout_of_their_cell(step):
    for _, cell, case in itertools.islice(every(), 0, None, step):
        if case.inplace:
            is_between = case.situation.get("out", "apart") != "apart"
            assert cell.layout == ("offset" if is_between else "inplace")
            shared = case.descriptor.specs[case.descriptor.operands.index(case.inplace)]
            out = case.descriptor.outputs[case.target]
            assert (shared.shape, shared.strides, shared.offset + is_between) == (out.shape, out.strides, out.offset)
        elif not case.shift:
            is_moved = any(spec.lo for spec in case.descriptor.specs if isinstance(spec, TensorSpec))
            assert is_moved == (cell.layout == "offset"), identity(cell, case)
            if not any(getattr(spec, "offset", 0) for spec in case.descriptor.specs):
                assert case.descriptor.cell == str(cell), identity(cell, case)


def test_strided_cells_hold_every_kind_of_stride():
    some = itertools.islice(every(), 0, None, 13)
    strided = [case.descriptor for _, cell, case in some if cell.layout == "strided" and is_small(case)]
    specs = [spec for descriptor in strided for spec in descriptor.specs if isinstance(spec, TensorSpec)]
    inputs = [spec for descriptor in strided for spec in descriptor.specs[:-1] if isinstance(spec, TensorSpec)]
    assert any(0 in spec.strides for spec in inputs)
    assert any(min(spec.strides) < 0 for spec in specs)
    assert any(spec.ndim == 16 for spec in specs)
    assert any(descriptor.out.strides != ep.layout.spec.dense_strides(descriptor.out.shape) for descriptor in strided)


def test_large_cases_need_more_than_31_bits():
    large = [case.descriptor for _, _, case in every() if case.profile == "large"]
    lacking = {lack.family for module in parts("lacks") for lack in getattr(module, "LACKS", ()) if lack.of == "large"}
    assert {descriptor.family for descriptor in large} == {family.name for family in FAMILIES} - lacking
    assert all(descriptor.key.wide for descriptor in large)


def test_every_table_is_tried_in_one_case():
    tried = [str(cell) for _, cell, case in every() if case.name == "table"]
    assert len(tried) == len(set(tried)) == len(tables.names("float64")) + len(tables.names("complex128"))


def test_element_types_of_16_bits_are_tried_with_all_their_values():
    cases = [(cell, case) for _, cell, case in every() if case.name == "exhaustive-16bit"]
    dtypes = {(case.descriptor.family, case.descriptor.specs[0].dtype) for _, case in cases}
    wanted = {"float16", "bfloat16", "int16", "uint16"}
    assert dtypes == {
        (family, dtype) for family in ("elementwise_unary", "cast", "saturating_cast", "copy") for dtype in wanted
    }
    for cell, case in cases:
        values = case.data(np.random.default_rng(0))["x"].view(np.uint16)
        assert np.unique(values).size == 65536, identity(cell, case)


def test_binary_ops_of_8_bits_are_tried_with_all_pairs():
    cases = [(cell, case) for _, cell, case in every() if case.name == "exhaustive-8bit" and "broadcast" in str(cell)]
    integers = [row for row in BINARY_OPS.values() if "int8" in row.dtypes]
    assert len(cases) == 2 * len(integers)
    for cell, case in cases:
        a, b = (case.data(np.random.default_rng(0))[name].view(np.uint8).astype(int) for name in "ab")
        assert np.unique(256 * a + b).size == 65536, identity(cell, case)


def test_sources_of_8_bits_are_cast_and_copied_with_all_their_values():
    cases = {str(cell) for _, cell, case in every() if case.name == "exhaustive-8bit"}
    for dtype in ("bool", "int8", "uint8", "float8_e4m3fn", "float8_e5m2"):
        assert f"cast/-/{dtype}->float32/dense" in cases
        assert f"copy/-/{dtype}/dense" in cases


def _bits(array):
    wide = array.astype(np.complex128)
    parts = np.stack([wide.real, wide.imag])
    return np.where(np.isnan(parts), np.nan, parts).tobytes()


def test_special_values_are_judged_bit_for_bit_and_the_reference_agrees():
    special = [item for item in every() if item[2].name.startswith("special-values") and is_small(item[2])]
    assert len(special) > 80
    for family, cell, case in special:
        assert case.accuracy == Exact()
        dtype = array_dtype(case.descriptor.out.dtype)
        inputs = case.data(generator(cell, case))
        with np.errstate(over="ignore"):
            given = family.reference(case.descriptor, inputs).value.astype(dtype)
            wanted = case.expected().value.astype(dtype)
        assert _bits(given) == _bits(wanted), identity(cell, case)


def _wrong(value):
    yield np.zeros_like(value)
    yield np.roll(value.reshape(-1), 1).reshape(value.shape)


def _accepts_a_wrong_result(family, case, output, rng):
    """Say whether zeros, or the elements moved by one, would do for the data that is drawn next."""
    descriptor = case.descriptor
    inputs = case.data(rng)
    reference = case.expected() if case.expected else family.reference(descriptor, inputs)
    value = np.asarray(by_name(descriptor, reference)[output].value)
    accuracy = case.accuracy or family.accuracy(descriptor)
    slack = accuracy.floor if isinstance(accuracy, Ulps) else 0.0
    share = 0.0 if descriptor.op == "nextafter" else 1e-3  # beside one number all its results are neighbours
    for wrong in _wrong(value):
        with np.errstate(invalid="ignore", over="ignore"):
            same = value == wrong
            if value.dtype.kind in "fc":
                same |= np.isnan(value) & np.isnan(wrong)
                same |= np.abs(value - wrong) <= max(
                    slack, share * np.min(np.abs(value), initial=np.inf, where=~np.isnan(value))
                )
        if same.all():
            return True
    return False


def test_no_case_would_accept_zeros_or_elements_out_of_place():
    """The suite draws a dozen times where it would."""
    for family, cell, case in sample():
        descriptor = case.descriptor
        has_tensors = any(isinstance(spec, TensorSpec) and spec.size > 1 for spec in descriptor.specs[:-1])
        constant = by_name(descriptor, family.is_constant(descriptor))
        for output, spec in descriptor.outputs.items():
            if spec.size < 10 or not has_tensors or constant[output]:
                continue
            rng = generator(cell, case)
            assert not all(_accepts_a_wrong_result(family, case, output, rng) for _ in range(12)), identity(cell, case)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float16", "bfloat16", "float32", "float64"])
def test_pairs_hold_equal_and_ordered_values_in_either_direction(dtype):
    rng = np.random.default_rng(5)
    for size in (15, 65, 1025):
        first = data.random(rng, dtype, (size,), REAL)
        second = pairing.partner(rng, first, data.random(rng, dtype, (size,), REAL))
        a, b = widened(dtype, first), widened(dtype, second)
        assert (a == b).sum() > size // 5
        assert (a < b).any()
        assert (a > b).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_random_floats_reach_every_part_of_their_type(dtype):
    info = limits(dtype)
    values = widened(dtype, data.random(np.random.default_rng(1), dtype, (20000,), REAL))
    size = np.abs(values[np.isfinite(values)])
    assert ((size > 0) & (size < float(info.smallest_normal))).sum() > 50
    assert (size > np.sqrt(float(info.max))).sum() > 50
    assert (values == 0).any()
    assert np.isnan(values).any()
    assert np.isinf(values).any()


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES])
def test_closed_domains_are_kept(dtype):
    rng = np.random.default_rng(2)
    for domain in (UNIT, DECAY, GRADIENT, REAL.closed(), EXPONENT.closed()):
        assert domain.contains(dtype, data.random(rng, dtype, (5000,), domain)).all()
        assert domain.contains(dtype, data.designed(dtype, domain)).all()


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_complex_data_has_every_combination_of_parts(dtype):
    values = data.random(np.random.default_rng(3), dtype, (20000,), REAL)
    assert np.isnan(values).any()
    assert np.isinf(values).any()
    closed = data.random(np.random.default_rng(3), dtype, (20000,), REAL.closed())
    assert np.isfinite(closed).all()
    for x, y in ((closed.real, closed.imag), (closed.imag, closed.real)):
        assert ((x == 0) & (y != 0)).any()
        assert (np.abs(x) > 1e10 * np.abs(y)).sum() > 1000
        assert (np.signbit(x) & (x == 0)).any()


@pytest.mark.parametrize("dtype", EVERY)
def test_designed_values_hold_the_ends_of_their_type(dtype):
    values = data.designed(dtype)
    kind = ep.dtype(dtype).kind
    if kind in "iu":
        assert set(ep.dtype(dtype).range) <= set(values.tolist())
    elif kind == "f":
        wide = widened(dtype, values)
        assert float(limits(dtype).max) in wide
        assert float(limits(dtype).smallest_subnormal) in wide
        assert np.isnan(wide).any()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = values[1]
