import numpy as np
import pytest
from ep_primitives import (
    BINARY_OPS,
    UNARY_OPS,
    BroadcastBinary,
    Conditioned,
    ElementwiseUnary,
    Ulps,
    ep_families,
)
from ep_primitives.judging import tables

import ep
from ep import TensorSpec

FAMILIES = {family.name: family for family in ep_families()}
ROWS = {**UNARY_OPS, **BINARY_OPS}
DTYPES = ("float64", "complex128")
ALL_TABLES = [(dtype, name) for dtype in DTYPES for name in tables.names(dtype)]
every_table = pytest.mark.parametrize(("dtype", "name"), ALL_TABLES)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exactly_the_rows_that_ieee_754_does_not_settle_have_a_table(dtype):
    def is_open(accuracy):
        return isinstance(accuracy, Conditioned) or (isinstance(accuracy, Ulps) and accuracy.n > 0.5)

    wanted = [name for name, row in ROWS.items() if dtype in row.dtypes and is_open(row.accuracy_of(dtype))]
    assert list(tables.names(dtype)) == sorted(wanted)


def test_other_element_types_have_no_table():
    others = set(ep.dtypes.DTYPES) - set(DTYPES)
    assert not any(tables.names(dtype) for dtype in others)


@every_table
def test_table_has_2000_distinct_points_and_finite_results(dtype, name):
    table, row = tables.load(name, dtype), ROWS[name]
    points = {point.tobytes() for point in np.stack(table.inputs, axis=1)}
    assert len(points) == table.value.size >= 2000
    assert all(column.dtype == dtype for column in table.inputs)
    assert table.value.dtype == row.out_dtype(dtype)
    assert not np.isnan(table.value).any()
    assert np.isfinite(table.value).mean() > 0.9
    assert len(table.attributes) == len(row.attributes)
    with pytest.raises(ValueError, match="read-only"):
        table.value[0] = 0


@every_table
def test_conditioned_rows_have_a_scale_no_smaller_than_the_result(dtype, name):
    table = tables.load(name, dtype)
    assert (table.scale is not None) == isinstance(ROWS[name].accuracy_of(dtype), Conditioned)
    if table.scale is not None:
        assert table.scale.dtype == np.float64
        # Both are rounded, so S can be an ulp below a result of one term.
        assert (table.scale * (1 + 2.0**-51) >= np.abs(table.value)).all()


@every_table
def test_points_lie_where_the_row_promises_its_accuracy(dtype, name):
    domains, columns = ROWS[name].domain_of(dtype), tables.load(name, dtype).inputs
    for domain, column in zip(domains, columns, strict=True):
        assert domain.is_open or domain.contains(dtype, column).all()


def test_real_tables_hold_the_hard_spots():
    def load(name):
        table = tables.load(name, "float64")
        return *table.inputs, table.value

    tiny = np.finfo(np.float64).smallest_normal
    (x, exp), (positive, _), (_, gelu) = load("exp"), load("log"), load("gelu")
    assert ((exp > 0) & (exp < tiny)).sum() > 100
    assert np.isinf(exp).any()
    assert ((positive > 0) & (positive < tiny)).sum() > 50
    assert (np.abs(positive - 1) < 1e-10).sum() > 50
    assert ((gelu < 0) & (gelu > -1e-250)).sum() > 50
    x, sine = load("sin")
    assert ((np.abs(x) > 1e20) & (np.abs(sine) < 1e-15)).sum() > 40
    x, gamma = load("lgamma")
    assert ((x < 0) & (np.abs(gamma) < 1e-9)).sum() > 50
    base, _, power = load("pow")
    assert ((base < 0) & (power < 0)).sum() > 50
    assert ((power > 0) & (power < tiny)).sum() > 20


@pytest.mark.parametrize("name", ["gelu", "mish", "silu", "fast_gelu", "quick_gelu"])
def test_gradient_tables_are_dense_around_their_root(name):
    slope = tables.load(f"{name}_backward_with_dy_x", "float64")
    assert (np.abs(slope.value) < 1e-10 * slope.scale).sum() > 20


@pytest.mark.parametrize("name", ["log", "sqrt", "asin", "acos", "acosh", "atanh", "asin_backward_with_dy_x"])
def test_complex_tables_hold_both_sides_of_a_cut(name):
    z = tables.load(name, "complex128").inputs[-1]
    is_on_cut = (z.imag == 0) & (np.abs(z.real) > 0)
    assert (is_on_cut & np.signbit(z.imag)).sum() > 20
    assert (is_on_cut & ~np.signbit(z.imag)).sum() > 20


@every_table
def test_numpy_reference_is_as_good_as_its_row_says(dtype, name):
    table, row = tables.load(name, dtype), ROWS[name]
    specs = [TensorSpec(dtype, table.value.shape)] * len(table.inputs)
    kind = ElementwiseUnary if len(specs) == 1 else BroadcastBinary
    attributes = dict(zip((a.name for a in row.attributes), table.attributes, strict=True))
    descriptor = kind.infer(name, *specs, **attributes)
    family = FAMILIES[kind.family]
    reference = family.reference(descriptor, dict(zip(descriptor.operands, table.inputs, strict=False)))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(reference.value == table.value, 0, np.abs(reference.value - table.value))
        unit = np.spacing(np.where(np.isfinite(table.value), np.abs(table.value), np.finfo(np.float64).max))
    accuracy = family.accuracy(descriptor)
    # A Conditioned row states the error of its reference in eps S.
    floor = accuracy.floor if isinstance(accuracy, Ulps) else reference.error * 2.0**-52 * table.scale
    assert (error <= np.maximum(reference.error * unit, floor)).all()
