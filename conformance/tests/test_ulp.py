"""Each rule of Khronos' ULP definition, alone."""

import math

import ml_dtypes
import numpy as np
import pytest
from ep_conformance.ulp import complex_error, equals, format_of, rounded, ulp_error, unit
from hypothesis import given
from hypothesis import strategies as st


def error(result, reference, dtype="float32"):
    kind = np.float64 if dtype == "float64" else getattr(np, dtype, None) or getattr(ml_dtypes, dtype)
    return float(ulp_error(np.array([result], kind), np.array([reference], np.float64), dtype)[0])


@pytest.mark.parametrize(
    ("dtype", "digits", "emin"),
    [("float16", 11, -13), ("float32", 24, -125), ("float64", 53, -1021), ("bfloat16", 8, -125)],
)
def test_format_is_that_of_c(dtype, digits, emin):
    assert (format_of(dtype).digits, format_of(dtype).emin) == (digits, emin)


def test_rule_1_correctly_rounded_has_no_error():
    third = 1 / 3
    assert error(np.float32(third), third) == 0
    assert error(np.inf, 1e39) == 0  # the reference overflows the format, and so does the result


def test_rule_2_infinite_reference_accepts_itself_alone():
    assert error(np.inf, np.inf) == 0
    assert abs(error(3e38, np.inf)) == math.inf
    assert abs(error(-np.inf, np.inf)) == math.inf


def test_rule_3_early_overflow_counts_as_the_next_value():
    largest = float(np.finfo(np.float32).max)
    assert error(np.inf, largest - 2.0**104) == pytest.approx(2)
    assert error(-np.inf, -largest) == pytest.approx(-1)
    assert error(np.inf, 65504.0, "float16") == pytest.approx(1)


def test_rule_3_does_not_hold_for_float64():
    assert error(np.inf, np.finfo(np.float64).max, "float64") == math.inf


def test_rule_4_nan_equals_any_nan_and_nothing_else():
    payload = np.array([0x7FC12345], np.uint32).view(np.float32)[0]
    assert error(payload, np.nan) == 0
    assert math.isnan(error(np.nan, 1.0))
    assert math.isnan(error(1.0, np.nan))
    assert not abs(error(np.nan, 1.0)) <= 1e300


def test_rule_5_unit_is_the_spacing_of_the_binade():
    assert unit(np.array([1.5]), "float32")[0] == 2.0**-23
    assert error(np.float32(1.5) + np.float32(2.0**-23), 1.5) == 1


def test_rule_5_below_a_power_of_two_the_smaller_spacing_counts():
    assert unit(np.array([1.0]), "float32")[0] == 2.0**-24
    assert error(np.nextafter(np.float32(1), np.float32(2)), 1.0) == 2
    assert error(np.nextafter(np.float32(1), np.float32(0)), 1.0) == -1


@pytest.mark.parametrize("reference", [0.0, 2.0**-149, 2.0**-130, 2.0**-126])
def test_rule_6_subnormal_unit_is_the_smallest_subnormal(reference):
    assert unit(np.array([reference]), "float32")[0] == 2.0**-149


def test_rule_7_error_is_signed():
    assert error(np.float32(3) - np.float32(2.0**-22), 3.0) == -1
    assert error(np.float32(3) + np.float32(2.0**-22), 3.0) == 1


def test_rule_7_half_a_unit_is_added_in_float64():
    assert error(3.0 + 2.0**-51, 3.0, "float64") == 1.5
    assert error(3.0 - 2.0**-51, 3.0, "float64") == -1.5
    assert error(3.0, 3.0, "float64") == 0


def test_rule_8_the_sign_of_zero_is_invisible():
    assert error(-0.0, 0.0) == 0
    assert error(0.0, -0.0, "float64") == 0


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
