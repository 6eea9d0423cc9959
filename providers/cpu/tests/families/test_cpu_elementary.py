"""The elementary functions at hard arguments; conformance tries their errors everywhere."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from ep_primitives import BroadcastBinary, ElementwiseUnary

import ep

ODD = ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh"]
NEAREST_TO_A_ZERO = 6381956970095103 * 2.0**797


def doubles(count, rng):
    """Return finite numbers of all exponents, both signs."""
    x = rng.integers(0, 2**64, count, np.uint64).view(np.float64)
    return x[np.isfinite(x)]


@pytest.fixture(scope="module")
def angles():
    """Return a float64 next to a multiple of pi / 2 at each exponent, where most digits of the reduction cancel."""
    rng = np.random.default_rng(0)
    with mpmath.workprec(1200):
        turns = (mpmath.mpf(int(rng.integers(2**52, 2**53))) * mpmath.mpf(2) ** e for e in range(-52, 970, 3))
        near = [float(mpmath.nint(turn) * mpmath.pi / 2) for turn in turns]
    return np.array([*near, NEAREST_TO_A_ZERO, np.finfo(np.float64).max])


@pytest.mark.parametrize("op", ["sin", "cos", "tan"])
def test_circular_functions_reduce_angles_of_any_size(isa, run_on, op, angles):
    out = run_on(isa, ElementwiseUnary.infer(op, ep.TensorSpec.of(angles)), angles)
    with mpmath.workprec(1200):
        exact = np.array([float(getattr(mpmath, op)(mpmath.mpf(x))) for x in angles])
    assert (np.abs(out - exact) <= 3 * np.spacing(np.abs(exact))).all()


@pytest.mark.parametrize("op", ODD)
def test_odd_functions_are_odd_to_the_bit(isa, run_on, op):
    x = doubles(3000, np.random.default_rng(1))
    descriptor = ElementwiseUnary.infer(op, ep.TensorSpec.of(x))
    right, left = run_on(isa, descriptor, x), run_on(isa, descriptor, -x)
    ordinary = ~np.isnan(right)
    assert (right.view(np.int64)[ordinary] == (-left).view(np.int64)[ordinary]).all()
    assert np.isnan(left[~ordinary]).all()


def test_fmod_is_exact_for_quotients_of_any_length(isa, run_on):
    rng = np.random.default_rng(2)
    long, by, b = (doubles(4000, rng)[:1500] for _ in range(3))
    b = np.where(np.abs(b) < 2.0**1000, b, 1.0)
    a, b = np.concatenate([long, b * rng.uniform(-1000, 1000, 1500)]), np.concatenate([by, b])
    descriptor = BroadcastBinary.infer("fmod", ep.TensorSpec.of(a), ep.TensorSpec.of(b))
    out = run_on(isa, descriptor, a, b)
    assert out.tolist() == [math.fmod(x, y) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize(("op", "whole"), [("floor_div", math.floor), ("trunc_div", math.trunc)])
def test_quotients_are_whole_before_they_are_rounded(isa, run_on, op, whole):
    rng = np.random.default_rng(3)
    b = rng.integers(1, 2**24, 4000).astype(np.float32)
    a = b * rng.integers(2**22, 2**28, 4000).astype(np.float32) * rng.choice(np.array([-1, 1], np.float32), 4000)
    out = run_on(isa, BroadcastBinary.infer(op, ep.TensorSpec.of(a), ep.TensorSpec.of(b)), a, b)
    exact = [whole(Fraction(float(x)) / Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    assert out.tolist() == [float(np.float32(value)) for value in exact]
    assert (out != np.float32(np.array(a, np.float64) / b)).any()
