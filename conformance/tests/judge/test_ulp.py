"""Each rule of Khronos' ULP definition, alone."""

import math

import ml_dtypes
import numpy as np
import pytest
from ep_conformance.judge import ulp
from ep_conformance.judge.ulp import complex_error, equals, format_of, rounded, ulp_error, unit
from hypothesis import given
from hypothesis import strategies as st
from mutation import mutated


def error(result, reference, dtype="float32"):
    kind = np.float64 if dtype == "float64" else getattr(np, dtype, None) or getattr(ml_dtypes, dtype)
    return float(ulp_error(np.array([result], kind), np.array([reference], np.float64), dtype)[0])


def wider(value):
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        pytest.skip("long double is no wider than double here")
    return np.longdouble(value)


def units(*references, dtype="float32"):
    return unit(np.array(references), dtype).tolist()


@pytest.mark.parametrize(
    ("dtype", "digits", "emin"),
    [("float16", 11, -13), ("float32", 24, -125), ("float64", 53, -1021), ("bfloat16", 8, -125)],
)
def test_format_is_that_of_c(dtype, digits, emin):
    assert (format_of(dtype).digits, format_of(dtype).emin) == (digits, emin)


def test_rule_1_correctly_rounded_has_no_error():
    assert error(np.float32(1 / 3), 1 / 3) == 0
    assert error(1.0, 1 + 2.0**-11, "float16") == 0, "a tie goes to the even one"
    assert error(1 + 2.0**-10, 1 + 2.0**-11 + 2.0**-30, "float16") == 0
    assert error(1.0, 1 + 2.0**-8, "bfloat16") == 0
    assert error(np.float32(0.1), 0.1) == 0


def test_rule_1_settles_a_reference_that_overflows_the_format():
    assert error(np.inf, 1e39) == 0
    assert error(-np.inf, -65520.0, "float16") == 0
    assert error(3e38, 1e39) < -1


def test_rule_2_infinite_reference_accepts_itself_alone():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        assert error(np.inf, np.inf, dtype) == error(-np.inf, -np.inf, dtype) == 0
        assert error(6e4, np.inf, dtype) == -math.inf
        assert error(-np.inf, np.inf, dtype) == -math.inf
        assert error(np.inf, -np.inf, dtype) == math.inf


def test_rule_3_early_overflow_counts_as_the_next_value():
    """2^128 follows (2 - 2^-23) 2^127, whose ulp is 2^104; 65536 follows 65504, whose ulp is 32."""
    largest = float(np.finfo(np.float32).max)
    assert error(np.inf, largest) == 1
    assert error(np.inf, largest - 2.0**104) == 2
    assert error(-np.inf, -largest) == -1
    assert error(np.inf, 65504.0, "float16") == 1
    assert error(np.inf, 65440.0, "float16") == 3
    assert error(-np.inf, -65504.0, "float16") == -1
    assert error(np.inf, (2 - 2.0**-7) * 2.0**127, "bfloat16") == 1


def test_rule_3_holds_of_float64_for_its_largest_number_alone():
    for sign in (1, -1):
        assert error(sign * np.inf, sign * np.finfo(np.float64).max, "float64") == sign * 1.5
        assert abs(error(-sign * np.inf, sign * np.finfo(np.float64).max, "float64")) == math.inf
        assert abs(error(sign * np.inf, sign * np.nextafter(np.finfo(np.float64).max, 0), "float64")) == math.inf
    assert error(-np.inf, -1e308, "float64") == -math.inf
    largest = np.array([wider(np.finfo(np.float64).max)])
    before = np.array([wider(np.nextafter(np.finfo(np.float64).max, 0))])
    assert ulp_error(np.array([np.inf]), largest, "float64") == 1
    assert ulp_error(np.array([np.inf]), before, "float64") == math.inf


def test_rule_4_nan_equals_any_nan():
    payload, negative = np.array([0x7FC12345, 0xFF800001], np.uint32).view(np.float32)
    assert error(payload, np.nan) == error(negative, np.nan) == 0
    assert error(-np.nan, np.nan, "float64") == error(np.nan, np.nan, "float16") == 0


def test_rule_4_nan_on_one_side_fails_every_bound():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for result, reference in ((np.nan, 1.0), (1.0, np.nan), (np.nan, np.inf), (np.inf, np.nan), (np.nan, 0.0)):
            assert math.isnan(error(result, reference, dtype))
            assert not abs(error(result, reference, dtype)) <= math.inf


def test_rule_5_unit_is_the_spacing_of_the_binade():
    assert units(1.5, 3.0, 1000.0) == [2.0**-23, 2.0**-22, 2.0**-14]
    assert units(1.5, 3.0, 1000.0, dtype="float16") == [2.0**-10, 2.0**-9, 0.5]
    assert units(1.5, -1.5, dtype="float64") == [2.0**-52, 2.0**-52]
    assert units(1.5, 100.0, dtype="bfloat16") == [2.0**-7, 0.5]
    assert error(np.float32(1.5) + np.float32(2.0**-23), 1.5) == 1


def test_rule_5_below_a_power_of_two_the_smaller_spacing_counts():
    assert units(1.0, 2.0, -0.5) == [2.0**-24, 2.0**-23, 2.0**-25]
    assert units(1.0, dtype="float16") == [2.0**-11]
    assert units(4.0, dtype="bfloat16") == [2.0**-6]
    assert units(1.0, dtype="float64") == [2.0**-53]
    assert error(np.nextafter(np.float32(1), np.float32(2)), 1.0) == 2, "above, an error counts double"
    assert error(np.nextafter(np.float32(1), np.float32(0)), 1.0) == -1


def test_rule_6_subnormal_unit_is_the_smallest_subnormal():
    """At 0, in the subnormal range, at the smallest normal, and at the next power of two, below which the spacing is that."""
    for dtype, digits, emin in (
        ("float16", 11, -13),
        ("float32", 24, -125),
        ("float64", 53, -1021),
        ("bfloat16", 8, -125),
    ):
        least, normal = 2.0 ** (emin - digits), 2.0 ** (emin - 1)
        assert units(0.0, least, 3 * least, normal, 1.5 * normal, 2 * normal, dtype=dtype) == [least] * 6
        assert units(3 * normal, dtype=dtype) == [2 * least]
    assert error(2.0**-149, 0.0) == 1
    assert error(3 * 2.0**-24, 2.0**-24, "float16") == 2


def test_rule_7_error_is_signed_and_computed_in_the_wider_type():
    assert error(np.float32(3) - np.float32(2.0**-22), 3.0) == -1
    assert error(np.float32(3) + np.float32(2.0**-22), 3.0) == 1
    assert error(3.0, 3.0 - 2.0**-24) == 0, "correctly rounded"
    assert error(3.0 + 2.0**-22, 3.0 - 2.0**-24) == 1.25


def test_rule_7_half_a_unit_is_added_in_float64_away_from_zero():
    assert error(3.0 + 2.0**-51, 3.0, "float64") == 1.5
    assert error(3.0 - 2.0**-51, 3.0, "float64") == -1.5
    assert error(3.0, 3.0, "float64") == 0


def test_rule_7_nothing_is_added_to_a_reference_that_is_wider():
    third = np.array([wider(1)]) / 3
    up = np.nextafter(np.float64(third[0]), 1)
    found = float(ulp_error(np.array([up]), third, "float64")[0])
    assert found == pytest.approx(2 / 3, abs=1e-3)  # 1/3 rounds down by a third of an ulp


def test_rule_8_the_sign_of_zero_is_invisible():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        assert error(-0.0, 0.0, dtype) == error(0.0, -0.0, dtype) == 0


MUTANTS = {
    "no correct rounding": (
        "fine = equals(np.asarray(result), rounded(ref, name))",
        "fine = np.zeros(ref.shape, bool)",
        test_rule_1_correctly_rounded_has_no_error,
    ),
    "overflow is not settled": (
        "fine = equals(np.asarray(result), rounded(ref, name))",
        "fine = equals(np.asarray(result), rounded(ref, name)) & np.isfinite(result)",
        test_rule_1_settles_a_reference_that_overflows_the_format,
    ),
    "anything is right beside an infinite reference": (
        "error = (got - ref) / unit(ref, name)",
        "error = np.where(np.isinf(ref), 0, (got - ref) / unit(ref, name))",
        test_rule_2_infinite_reference_accepts_itself_alone,
    ),
    "no early overflow": (
        "early = np.isinf(got) & np.isfinite(ref)",
        "early = np.zeros(ref.shape, bool)",
        test_rule_3_early_overflow_counts_as_the_next_value,
    ),
    "early overflow loses its sign": (
        "np.copysign(np.asarray(2.0, wide) ** form.emax, got)",
        "np.asarray(2.0, wide) ** form.emax",
        test_rule_3_early_overflow_counts_as_the_next_value,
    ),
    "early overflow in float64": (
        "if not is_double:  # rule 3",
        "if True:  # rule 3",
        test_rule_3_holds_of_float64_for_its_largest_number_alone,
    ),
    "NaN equals nothing": (
        "same | (np.isnan(result) & np.isnan(expected))",
        "same",
        test_rule_4_nan_equals_any_nan,
    ),
    "NaN of one side passes": (
        "same | (np.isnan(result) & np.isnan(expected))",
        "same | np.isnan(result) | np.isnan(expected)",
        test_rule_4_nan_on_one_side_fails_every_bound,
    ),
    "unit of the binade above": (
        "binade = exponent - 1 - ",
        "binade = exponent - ",
        test_rule_5_unit_is_the_spacing_of_the_binade,
    ),
    "powers of two are ordinary": (
        "- (fraction == 0.5)",
        "- 0 * (fraction == 0.5)",
        test_rule_5_below_a_power_of_two_the_smaller_spacing_counts,
    ),
    "no subnormal floor": (
        "np.maximum(binade, form.emin - 1) - (form.digits - 1)",
        "binade - (form.digits - 1)",
        test_rule_6_subnormal_unit_is_the_smallest_subnormal,
    ),
    "floor one too high": (
        "np.maximum(binade, form.emin - 1) - (form.digits - 1)",
        "np.maximum(binade, form.emin) - (form.digits - 1)",
        test_rule_6_subnormal_unit_is_the_smallest_subnormal,
    ),
    "unsigned error": (
        "error = (got - ref) / unit(ref, name)",
        "error = abs(got - ref) / unit(ref, name)",
        test_rule_7_error_is_signed_and_computed_in_the_wider_type,
    ),
    "computed in the format": (
        "ref = np.asarray(reference, wide)",
        "ref = np.asarray(rounded(reference, name), wide)",
        test_rule_7_error_is_signed_and_computed_in_the_wider_type,
    ),
    "no half unit": (
        "error = error + np.copysign(0.5, error)",
        "pass",
        test_rule_7_half_a_unit_is_added_in_float64_away_from_zero,
    ),
    "half a unit towards infinity": (
        "error = error + np.copysign(0.5, error)",
        "error = error + 0.5",
        test_rule_7_half_a_unit_is_added_in_float64_away_from_zero,
    ),
    "half a unit even of a wider reference": (
        "if is_double and wide == np.float64:",
        "if is_double:",
        test_rule_7_nothing_is_added_to_a_reference_that_is_wider,
    ),
    "signed zeros differ": (
        "fine |= got == ref",
        "fine |= (got == ref) & (ref != 0)",
        test_rule_8_the_sign_of_zero_is_invisible,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_is_missed_where_it_is_changed(monkeypatch, name):
    old, new, test = MUTANTS[name]
    mutant = mutated(ulp, old, new)
    for used in ("ulp_error", "unit"):
        monkeypatch.setitem(globals(), used, getattr(mutant, used))
    with pytest.raises(AssertionError):
        test()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-40, 40))
def test_neighbours_count_as_many_units_as_they_are_apart(value, steps):
    start = np.array([value], np.float32)
    end = start.copy()
    for _ in range(abs(steps)):
        with np.errstate(over="ignore"):  # the neighbour of the largest number is infinite
            end = np.nextafter(end, np.float32(math.inf if steps > 0 else -math.inf))
    if not np.isfinite(end).all():
        return
    found = abs(float(ulp_error(end, start.astype(np.float64), "float32")[0]))
    # At most half as many where they reach a larger binade, at most twice where they leave a power of two.
    assert abs(steps) / 2 - 1 <= found <= 2 * abs(steps) + 1


def test_rounding_is_to_nearest_even_and_overflows():
    assert rounded(np.array([2049.0, 2051.0, 65519.9, 65520.0]), "float16").tolist() == [
        2048.0,
        2052.0,
        65504.0,
        math.inf,
    ]


def test_equality_of_bits_sees_the_sign_of_zero_and_any_nan():
    found = equals(np.array([0.0, -0.0, np.nan, 1.0], np.float32), np.array([0.0, 0.0, np.nan, np.nan], np.float32))
    assert found.tolist() == [True, False, True, False]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16"])
def test_rounding_is_done_once(name):
    kind = np.dtype(getattr(ml_dtypes, name, name))
    every = np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}").view(kind).astype(np.float64)
    grid = np.unique(every[np.isfinite(every)])
    low, high = grid[:-1], grid[1:]
    middle = low + (high - low) / 2
    assert (rounded(np.nextafter(middle, low), name).astype(np.float64) == low).all()
    assert (rounded(np.nextafter(middle, high), name).astype(np.float64) == high).all()


def test_rounding_of_what_is_too_large_depends_on_the_type():
    large = np.array([1e300, -np.inf, np.nan])
    assert list(rounded(large, "bfloat16").astype(np.float64)[:2]) == [np.inf, -np.inf]
    assert list(rounded(large, "float8_e5m2").astype(np.float64)[:2]) == [np.inf, -np.inf]
    assert np.isnan(rounded(large, "float8_e4m3fn").astype(np.float64)).all()


def test_complex_error_is_a_distance_in_ulps_of_the_modulus():
    step = 2.0**-23
    assert complex_error(np.complex64([3 + 4j]), np.array([3 + 4j + 4 * step]), "complex64") == [1]
    assert complex_error(np.complex64([1 + step * 1j]), np.array([1 + 0j]), "complex64") == [2], "1 is a power of two"
    assert complex_error(np.complex128([5j]), np.array([5j + 2.0**-49]), "complex128") == [2]


def test_complex_result_is_finite_exactly_where_the_reference_is():
    beyond = np.array([complex(1e39, 0), complex(np.nan, 1), complex(1, 1)])
    assert not complex_error(np.complex64([complex(np.nan, 3), complex(0, np.inf), 1 + 1j]), beyond, "complex64").any()
    wrong = complex_error(np.complex64([3.4e38, 1 + 1j, complex(np.inf, 1)]), beyond, "complex64")
    assert np.isnan(wrong).all()
