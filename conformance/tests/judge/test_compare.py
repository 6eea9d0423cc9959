"""Comparison by each kind of accuracy, and flush to zero where it is declared."""

import math

import numpy as np
import pytest
from ep_conformance.judge.compare import compare
from ep_primitives.judging.accuracy import Conditioned, Exact, Ulps
from ep_primitives.judging.reference import Reference

SUBNORMAL = 2.0**-140


def judged(result, reference, accuracy, dtype="float32", **options):
    kind = np.dtype(dtype)
    reference = reference if isinstance(reference, Reference) else Reference(np.array([reference], np.float64))
    return compare(np.array([result], kind), reference, accuracy, dtype, **options)


def test_exact_sees_one_bit_and_the_sign_of_zero():
    assert judged(1.0, 1.0, Exact()).passes
    assert not judged(np.nextafter(np.float32(1), np.float32(2)), 1.0, Exact()).passes
    assert not judged(0.0, -0.0, Exact()).passes
    assert judged(math.nan, math.nan, Exact()).passes
    assert judged(1.0, 1.0, Exact()).margin is None


def test_exact_integers_and_bools_are_equal():
    assert judged(7, Reference(np.array([7])), Exact(), "int32").passes
    assert not judged(7, Reference(np.array([8])), Exact(), "int32").passes
    assert not judged(True, Reference(np.array([False])), Exact(), "bool").passes


@pytest.mark.parametrize(("steps", "passes"), [(0, True), (3, True), (4, False)])
def test_ulps_hold_to_the_bound(steps, passes):
    result = np.float32(3) + np.float32(steps * 2.0**-22)
    comparison = judged(result, 3.0, Ulps(3))
    assert comparison.passes is passes
    assert comparison.margin == pytest.approx(steps / 3)


def test_ulps_accept_what_is_below_the_floor():
    assert judged(1e-9, 2e-9, Ulps(1, floor=1e-8)).passes
    assert not judged(1e-9, 2e-9, Ulps(1)).passes


def test_ulps_add_what_the_reference_may_be_off_by():
    loose = Reference(np.array([3.0]), error=2.0)
    assert judged(3.0 + 2 * 2.0**-51, loose, Ulps(1), "float64").passes
    assert not judged(3.0 + 2 * 2.0**-51, 3.0, Ulps(1), "float64").passes


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_bound_accepts_what_is_not_finite(bad):
    assert not judged(bad, 1.0, Ulps(1e6)).passes
    assert not judged(1.0, bad, Ulps(1e6)).passes
    assert judged(bad, bad, Ulps(1)).passes
    assert judged(bad, 1.0, Ulps(1)).margin > 1e30


def test_conditioned_allows_what_cancellation_costs():
    reference = Reference(np.array([0.0]), scale=np.array([8.0]))
    eps = 2.0**-23
    assert judged(4 * eps * 8, reference, Conditioned(4)).passes
    assert not judged(4.01 * eps * 8, reference, Conditioned(4)).passes


def test_conditioned_takes_eps_of_the_compute_type_and_half_an_ulp_of_the_output():
    reference = Reference(np.array([1.5 + 2.0**-12]), scale=np.array([0.0]))
    assert judged(1.5, reference, Conditioned(4), "float16").passes
    assert not judged(1.5 + 3 * 2.0**-10, reference, Conditioned(4), "float16").passes


def test_conditioned_without_a_finite_scale_is_not_a_blank_cheque():
    reference = Reference(np.array([1.0]), scale=np.array([math.inf]))
    assert not judged(2.0, reference, Conditioned(4)).passes


def test_bounds_of_more_ulps_than_there_are_numbers_for_hold_too():
    """Beside a float64 zero 2^-44 is 2^1030 ulps, which overflow; so is what a floor or a sum's bound allows there."""
    summed = Reference(np.array([0.0]), scale=np.array([2.0**6]), error=0.5)
    assert judged(2.0**-45, summed, Conditioned(4), "float64").margin == pytest.approx(0.5)
    assert not judged(1.01 * 2.0**-44, summed, Conditioned(4), "float64").passes
    assert judged(2.0**-45, 0.0, Ulps(1, floor=2.0**-44), "float64").passes
    assert not judged(2.0**-43, 0.0, Ulps(1, floor=2.0**-44), "float64").passes


def test_worst_element_is_named():
    result = np.array([1.0, 2.5, 3.0, math.nan], np.float32)
    comparison = compare(result, Reference(np.array([1.0, 2.0, 3.0, 4.0])), Ulps(2), "float32")
    assert comparison.fails.tolist() == [False, True, False, True]
    assert comparison.worst == (3,)
