"""The reference of Cast and its cases, for every pair of element types, against Python's integers and fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from ep_primitives import Cast, Copy, Fill, SaturatingCast
from ep_primitives.cases import data
from ep_primitives.cases.ties import ties
from ep_primitives.elementwise.op import COMPLEXES, EVERY, FLOAT8, INTEGERS
from ep_primitives.families.cast.descriptor import CAST_DTYPES, CastFamily
from ep_primitives.families.copy.descriptor import CopyFamily
from ep_primitives.families.fill.descriptor import FillFamily
from ep_primitives.families.saturating_cast.descriptor import SaturatingCastFamily
from ep_primitives.judging.reference import array_dtype, limits, widened

import ep
from ep import Scalar, TensorSpec

CAST = CastFamily()
FLOATING = [name for name in EVERY if ep.dtype(name).kind == "f"]


def cast(x, source, target):
    x = np.asarray(x, array_dtype(source))
    return CAST.reference(Cast.infer(TensorSpec(source, x.shape), target), {"x": x}).value


def rounded(value, target):
    """Return a fraction rounded once to nearest even, as a fraction, for a binary format without overflow."""
    row = ep.dtype(target)
    if not value:
        return Fraction(0)
    sign, size = (1, value) if value > 0 else (-1, -value)
    exponent = max(math.floor(math.log2(size)), 2 - 2 ** (row.exponent - 1))
    exponent += (size >= Fraction(2) ** (exponent + 1)) - (size < Fraction(2) ** exponent)
    step = Fraction(2) ** (exponent - row.fraction)
    return sign * round(size / step) * step  # round() of a fraction takes the even one of two


def test_every_pair_of_17_types_is_a_cell():
    pairs = {(signature.inputs[0], signature.out) for signature in CAST.signatures()}
    assert pairs == {(source, target) for source in EVERY for target in EVERY}
    assert len(CAST_DTYPES) == 17
    assert len(pairs) == 289


@pytest.mark.parametrize("source", FLOATING)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_truncate_and_saturate(source, target):
    x = data.designed(source)
    low, high = ep.dtype(target).range
    wide = widened(source, x)

    def exact(value):
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return min(max(int(value), low), high)

    assert cast(x, source, target).tolist() == [exact(value) for value in wide.tolist()]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integers_wrap(source, target):
    x = data.designed(source)
    low = ep.dtype(target).range[0]
    wanted = [(value - low) % 2 ** (8 * ep.dtype(target).itemsize) + low for value in x.tolist()]
    assert cast(x, source, target).tolist() == wanted


@pytest.mark.parametrize("source", ["int64", "uint64"])
@pytest.mark.parametrize("target", ["float32", "bfloat16", "float64"])
def test_integers_are_rounded_once(source, target):
    low, high = ep.dtype(source).range
    rng = np.random.default_rng(6)
    hard = [
        2**62 + 2**38 + 1,
        2**62 + 2**38,
        2**62 + 3 * 2**38 - 1,
        2**53 + 1,
        2**60 + 2**52 + 1,
        high,
        low,
        high - 1,
        3,
    ]
    shifted = zip(rng.integers(0, high, 500, source).tolist(), rng.integers(0, 40, 500).tolist(), strict=True)
    hard += [value >> shift for value, shift in shifted]
    values = [value for value in (*hard, *(-value for value in hard)) if low <= value <= high]
    got = cast(np.array(values, source), source, target)
    if target == "float64":
        assert got.tolist() == [float(value) for value in values]
    for value, wide in zip(values, got.tolist(), strict=True):
        assert rounded(Fraction(wide), target) == rounded(Fraction(value), target), value


@pytest.mark.parametrize("source", EVERY)
def test_anything_but_zero_is_true(source):
    x = data.designed(source)
    wide = widened(source, x)
    assert cast(x, source, "bool").tolist() == [value != 0 for value in wide.tolist()]
    assert {True, False} == set(cast(x, source, "bool").tolist())


@pytest.mark.parametrize("source", COMPLEXES)
def test_complex_numbers_give_their_real_part_and_reals_have_none_imaginary(source):
    z = np.array([complex(-1.5, 7), complex(math.nan, 1), complex(0, 1)], source)
    assert cast(z, source, "int32").tolist() == [-1, 0, 0]
    assert cast(z, source, "bool").tolist() == [True, True, True]
    assert repr(cast(z, source, "float32").tolist()) == "[-1.5, nan, 0.0]"
    joined = cast(np.array([-0.0, 2.5]), "float64", source)
    assert repr(joined.real.tolist()) == "[-0.0, 2.5]"
    assert repr(joined.imag.tolist()) == "[0.0, 0.0]"


@pytest.mark.parametrize("source", FLOATING)
@pytest.mark.parametrize("target", FLOATING)
def test_floats_keep_their_value_for_the_one_rounding(source, target):
    x = data.designed(source)
    assert cast(x, source, target).tobytes() == widened(source, x).tobytes()


@pytest.mark.parametrize("dtype", EVERY)
def test_fill_and_copy_take_every_type(dtype):
    spec = TensorSpec(dtype, (3,))
    assert Fill.infer(spec).specs == (Scalar(dtype), spec)
    assert Copy.infer(spec).out == spec
    for family in (FillFamily(), CopyFamily()):
        assert dtype in {signature.out for signature in family.signatures()}


def test_filled_numbers_are_held_by_their_type():
    family = FillFamily()
    for cell in family.cells():
        if cell.layout != "dense":
            continue
        for case in family.cases(cell):
            value = case.data(np.random.default_rng(0))["value"]
            held = ep.dtypes.convert(case.descriptor.out.dtype, value)
            assert repr(held) == repr(value) or held == value, (str(cell), case.name)


@pytest.mark.parametrize(
    ("source", "target", "least"),
    [
        ("float64", "float32", 3000),
        ("float64", "bfloat16", 5000),
        ("float32", "float16", 5000),
        ("float32", "float8_e4m3fn", 700),
        ("complex128", "complex64", 3000),
        ("uint64", "bfloat16", 1500),
        ("int64", "float64", 3000),
    ],
)
def test_ties_of_the_target_are_tried_with_their_neighbours(source, target, least):
    values = ties(source, target)
    assert values.dtype == array_dtype(source)
    assert values.size >= least
    exact = [Fraction(value) for value in np.atleast_1d(values.real).tolist() if math.isfinite(value)]
    part = {"complex64": "float32"}.get(target, target)
    steps = {value: rounded(value, part) - value for value in exact}
    # At a tie one unit is as far as the other: both directions occur, and so do the neighbours of ties.
    assert any(step > 0 for step in steps.values())
    assert any(step < 0 for step in steps.values())


def test_ties_hold_subnormal_numbers_and_the_way_to_infinity():
    values = ties("float64", "bfloat16")
    tiny = float(limits("bfloat16").smallest_normal)
    assert ((np.abs(values) < tiny) & (values != 0)).sum() > 300
    beyond = np.abs(values) > float(limits("bfloat16").max)
    assert beyond.sum() >= 2
    assert ties("int8", "float32").size == ties("float32", "float64").size == ties("bool", "float16").size == 0


def test_a_cast_that_rounds_twice_fails_on_the_ties():
    x = ties("float64", "bfloat16")
    once = array_dtype("bfloat16").type
    twice = x.astype(np.float32).astype(once).astype(np.float64)
    wrong = [
        value
        for value, got in zip(x.tolist(), twice.tolist(), strict=True)
        if math.isfinite(got) and rounded(Fraction(value), "bfloat16") != Fraction(got)
    ]
    assert len(wrong) > 500
    assert min(map(abs, wrong)) < float(limits("bfloat16").smallest_normal)


GREATEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
"""ONNX's table of Cast: with saturate=1 numbers beyond these, +-inf too, become these."""


def test_every_type_saturates_to_either_float8():
    pairs = [(signature.inputs[0], signature.out) for signature in SaturatingCastFamily().signatures()]
    assert pairs == [(source, target) for source in EVERY for target in FLOAT8]
    assert {SaturatingCastFamily().since(cell) for cell in SaturatingCastFamily().cells()} == {"1.1"}


@pytest.mark.parametrize("target", FLOAT8)
@pytest.mark.parametrize("source", EVERY)
def test_a_saturating_cast_is_the_cast_wherever_that_is_finite(source, target):
    family, greatest = SaturatingCastFamily(), GREATEST[target]
    x = data.listed(source)
    result = family.reference(SaturatingCast.infer(TensorSpec(source, x.shape), target), {"x": x}).value
    with np.errstate(all="ignore"):
        plain = cast(x, source, target).astype(array_dtype(target))
    wide = widened(source, x)
    wide = wide.real if wide.dtype.kind == "c" else wide.astype(np.float64)
    with np.errstate(all="ignore"):
        into = result.astype(array_dtype(target)).astype(np.float64)
    same = np.isfinite(plain.astype(np.float64))
    assert np.array_equal(into[same], plain.astype(np.float64)[same])
    assert np.array_equal(
        into[~same], np.where(np.isnan(wide), np.nan, np.copysign(greatest, wide))[~same], equal_nan=True
    )
    assert np.array_equal(np.isnan(into), np.isnan(wide))


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool"])
def test_other_types_are_no_target_of_a_saturating_cast(dtype):
    with pytest.raises(
        ValueError, match=f"^saturating_cast: out has dtype {dtype}, needs one of float8_e4m3fn, float8_e5m2"
    ):
        SaturatingCast(x=TensorSpec("float32", (2,)), out=TensorSpec(dtype, (2,)))
