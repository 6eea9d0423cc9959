"""Iota's descriptors, its reference against Python's integers and fractions, and its cases."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from ep_primitives import Conditioned, Exact, Iota, ep_families
from ep_primitives.elementwise.op import FLOATS, INTEGERS
from ep_primitives.families.iota.descriptor import IOTA_DTYPES
from ep_primitives.families.iota.family import IotaFamily

import ep
from ep import Scalar, TensorSpec

FAMILY = IotaFamily()


def reference(dtype, shape, start, step, axis=-1):
    return FAMILY.reference(Iota.infer(TensorSpec(dtype, shape), axis=axis), {"start": start, "step": step})


def test_the_numbers_are_described_by_the_output():
    out = TensorSpec("float16", (3, 4))
    descriptor = Iota.infer(out, axis=-2)
    assert descriptor == Iota(start=Scalar("float16"), step=Scalar("float16"), out=out, axis=0)
    assert (descriptor.axis, descriptor.extent, descriptor.attributes) == (0, 3, (0.0,))
    assert descriptor.cell == "iota/-/float16/dense"
    assert "axis=0" in repr(descriptor)
    assert Iota.infer(TensorSpec("int8", ())).extent == 1


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: Iota.infer(TensorSpec("bool", (3,))), ValueError, ("iota: out", "bool")),
        (lambda: Iota.infer(TensorSpec("complex64", (3,))), ValueError, ("iota: out", "complex64")),
        (lambda: Iota.infer(TensorSpec("int8", (3,)), axis=1), ValueError, ("iota: axis is 1", "from -1 to 0")),
        (lambda: Iota.infer(TensorSpec("int8", (3,)), axis=0.5), TypeError, ("iota: axis",)),
        (
            lambda: Iota(start=1, step=Scalar("int8"), out=TensorSpec("int8", (3,))),
            TypeError,
            ("iota: start is 1, not a Scalar", "Scalar('int8')"),
        ),
        (
            lambda: Iota(start=Scalar("int8"), step=Scalar("int16"), out=TensorSpec("int8", (3,))),
            ValueError,
            ("iota: step", "needs int8"),
        ),
        (lambda: Iota.infer(TensorSpec("int8", (3,), (0,))), ValueError, ("iota: out", "overlaps itself")),
    ],
)
def test_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as caught:
        make()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_pythons_wrapped(dtype):
    low, high = ep.dtype(dtype).range
    for start, step in itertools.product((low, 0, 3, high), (low, low + 1, 0, 1, 7, high)):
        expected = [(start + i * step - low) % (high - low + 1) + low for i in range(300)]
        assert reference(dtype, (300,), start, step).value.tolist() == expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_are_the_exact_progression_and_scales_its_terms(dtype):
    start, step = (float(np.dtype(dtype).type(number)) for number in (-12.7, 0.1))
    result = reference(dtype, (400,), start, step)
    exact = [Fraction(start) + i * Fraction(step) for i in range(400)]
    assert result.value.tolist() == pytest.approx([float(number) for number in exact], rel=2**-50, abs=2**-56)
    terms = [float(abs(Fraction(start)) + i * Fraction(step)) for i in range(400)]
    assert result.scale.tolist() == pytest.approx(terms, rel=2**-50)


def test_numbers_beside_16_bit_floats_are_float32():
    tenth = float(np.float32(0.1))
    assert reference("float16", (3,), 0.0, 0.1).value.tolist() == [0.0, tenth, 2 * tenth]


@pytest.mark.parametrize("axis", range(-3, 3))
def test_only_the_axis_counts(axis):
    value = reference("int32", (3, 4, 5), 10, 2, axis).value
    moved = np.moveaxis(value, axis, -1)
    assert (moved == 10 + 2 * np.arange(moved.shape[-1])).all()


@pytest.mark.parametrize(
    ("spec", "axis", "shape", "strides", "is_dense"),
    [
        (TensorSpec("int8", (6,)), 0, (6,), (1,), True),
        (TensorSpec("int8", (2, 3, 4)), 2, (6, 4), (4, 1), False),
        (TensorSpec("int8", (2, 3, 4)), 0, (12, 2), (1, 12), False),
        (TensorSpec("int8", (2, 3, 4)), 1, (2, 4, 3), (12, 1, 4), False),
        (TensorSpec("int8", (1, 4)), 0, (4, 1), (1, 1), False),
        (TensorSpec("int8", ()), -1, (1,), (1,), True),
        (TensorSpec("int8", (0, 4)), 0, (0,), (1,), True),
        (TensorSpec("int8", (5,), (-2,), 8), 0, (5,), (-2,), False),
    ],
)
def test_geometry_ends_with_the_axis(spec, axis, shape, strides, is_dense):
    geometry = Iota.infer(spec, axis=axis).geometry
    assert (geometry.shape, geometry.strides[-1], geometry.is_dense) == (shape, strides, is_dense)
    assert geometry.strides[:2] == ((0,) * len(shape),) * 2
    assert geometry.offsets == (0, 0, spec.offset)


def test_cells_are_every_number_in_every_layout():
    assert {cell.dtypes for cell in FAMILY.cells()} == set(IOTA_DTYPES) == {*INTEGERS, *FLOATS}
    assert {FAMILY.since(cell) for cell in FAMILY.cells()} == {"1.1"}
    assert "iota" in {family.name for family in ep_families()}


def test_cases_count_along_every_side_of_a_tensor():
    axes = {
        (case.name, case.descriptor.axis)
        for cell in FAMILY.cells()
        if cell.dtypes == "int32"
        for case in FAMILY.cases(cell)
        if case.descriptor.out.ndim == 4 and not case.situation
    }
    assert axes == {("rank-4", 3), ("rank-4-axis-0", 0), ("rank-4-axis-2", 2)}


def test_integers_are_exact_and_floats_within_roundings_of_their_terms():
    for dtype in IOTA_DTYPES:
        accuracy = FAMILY.accuracy(Iota.infer(TensorSpec(dtype, (3,))))
        assert isinstance(accuracy, Exact if dtype in INTEGERS else Conditioned)


@pytest.mark.parametrize("dtype", IOTA_DTYPES)
def test_random_rows_stay_in_range(dtype):
    for cell in FAMILY.cells():
        if cell.dtypes == dtype and cell.layout == "dense":
            for case in FAMILY.cases(cell):
                if case.fill == "random" and case.profile == "quick":
                    given = case.data(np.random.default_rng(1))
                    assert given["step"] != 0
                    assert np.isfinite(np.asarray(FAMILY.reference(case.descriptor, given).value, np.float64)).all()
