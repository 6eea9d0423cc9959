"""The bias and variance of sums: what rounds to nearest passes in any order; what truncates, or has fewer bits, fails.

It fails although every element is within its bound.
"""

import numpy as np
import pytest
from ep_conformance.judge.bias import LEAST_OUTPUTS, bias, variance
from ep_conformance.judge.compare import compare
from ep_primitives import Conditioned, Reference
from ep_primitives.families.reduce.rows import summation

TERMS = 257
OUTPUTS = 300


def rounded(exact, total):
    return exact.astype(total.dtype)


def truncated(exact, total):
    near = exact.astype(total.dtype)
    return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, total.dtype.type(0)), near)


def in_sequence(terms, keep):
    total = np.zeros(terms.shape[0], terms.dtype)
    for k in range(terms.shape[1]):
        total = keep(total.astype(np.float64) + terms[:, k], total)
    return total


def in_lanes(terms, keep):
    padded = np.concatenate([terms, np.zeros((terms.shape[0], -terms.shape[1] % 16), terms.dtype)], axis=1)
    lanes = np.stack([in_sequence(padded[:, lane::16], keep) for lane in range(16)], axis=1)
    return in_pairs(lanes, keep)


def in_pairs(terms, keep):
    while terms.shape[1] > 1:
        even = terms.shape[1] // 2 * 2
        pairs = keep(terms[:, 0:even:2].astype(np.float64) + terms[:, 1:even:2], terms[:, 0:even:2])
        terms = np.concatenate([pairs, terms[:, even:]], axis=1)
    return terms[:, 0]


def of_bits(bits, direction=np.rint):
    """Return a rounding to fewer bits than float32's 24."""

    def keep(exact, _):
        fraction, exponent = np.frexp(exact)
        return np.ldexp(direction(fraction * 2.0**bits), exponent - bits).astype(np.float32)

    return keep


def up_and_down(exact, total):
    down, up = of_bits(24, np.floor)(exact, total), of_bits(24, np.ceil)(exact, total)
    return np.where((np.arange(OUTPUTS) % 2).reshape(-1, *[1] * (exact.ndim - 1)) == 0, down, up)


def judged(order, keep, seed=0):
    """Return what the three limits of a sum of float32 say: worst element, bias and variance, each over its limit."""
    terms = np.random.default_rng(seed).uniform(0.5, 1, (OUTPUTS, TERMS)).astype(np.float32)
    value = terms.astype(np.float64).sum(axis=1)
    result, reference = order(terms, keep), Reference(value, value)
    given = (result, reference, "float32", TERMS)
    margin = compare(result, reference, Conditioned(summation(TERMS)), "float32").margin
    return margin, bias(*given), variance(*given)


def measured(order, keep, seed=0):
    terms = np.random.default_rng(seed).uniform(0.5, 1, (OUTPUTS, TERMS)).astype(np.float32)
    value = terms.astype(np.float64).sum(axis=1)
    return bias(order(terms, keep), Reference(value, value), "float32", TERMS)


@pytest.mark.parametrize("order", [in_sequence, in_lanes, in_pairs])
def test_right_rounding_passes_and_truncation_fails_in_any_order(order):
    assert max(measured(order, rounded, seed) for seed in range(20)) < 0.5
    assert min(measured(order, truncated, seed) for seed in range(5)) > 1


@pytest.mark.parametrize("order", [in_sequence, in_lanes, in_pairs])
def test_right_rounding_has_half_of_the_variance_that_is_allowed(order):
    assert max(judged(order, rounded, seed)[2] for seed in range(20)) < 0.5


@pytest.mark.parametrize(
    ("order", "keep"),
    [(in_sequence, of_bits(22)), (in_lanes, of_bits(20)), (in_pairs, of_bits(20))],
    ids=["22 bits in sequence", "20 bits in lanes", "20 bits in pairs"],
)
def test_accumulator_of_fewer_bits_fails_by_its_variance_alone(order, keep):
    for seed in range(5):
        margin, leaning, spread = judged(order, keep, seed)
        assert max(margin, leaning) < 1 < spread / 1.9


def test_rounding_up_and_down_in_turn_cancels_and_fails_by_its_variance():
    _, leaning, spread = judged(in_sequence, up_and_down)
    assert leaning < 1 < spread / 100


def test_product_of_factors_in_two_bfloat16_fails_by_its_variance_alone():
    """A matrix product that splits float32 into two numbers of 8 bits has factors of 16."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.5, 2, (2, OUTPUTS, TERMS)).astype(np.float32)
    value = (a.astype(np.float64) * b).sum(axis=1)
    reference = Reference(value, value)
    split = [of_bits(16)(factor.astype(np.float64), None).astype(np.float64) for factor in (a, b)]
    for factors, fails in (((a.astype(np.float64), b), False), (split, True)):
        result = (factors[0] * factors[1]).sum(axis=1).astype(np.float32)
        given = (result, reference, "float32", TERMS)
        assert compare(result, reference, Conditioned(summation(TERMS)), "float32").margin < 0.7
        assert bias(*given) < 1
        assert (variance(*given) > 1.5) is fails


@pytest.mark.parametrize(("dtype", "cut"), [("float16", 1024.0), ("complex64", 0.0)])
def test_last_rounding_counts_in_narrow_and_complex_outputs(dtype, cut):
    rng = np.random.default_rng(1)
    value = rng.uniform(1, 2, OUTPUTS) + (1j * rng.uniform(1, 2, OUTPUTS) if dtype == "complex64" else 0)
    reference = Reference(value, np.abs(value))
    assert bias(value.astype(dtype), reference, dtype, 2) < 0.5
    low = np.floor(value * cut) / cut if cut else value - value.imag * 3j * 2.0**-23
    assert bias(low.astype(dtype), reference, dtype, 2) > 1


def test_too_few_outputs_and_no_scale_are_mistakes_of_the_case():
    few = np.ones(LEAST_OUTPUTS - 1, np.float32)
    with pytest.raises(ValueError, match="at least 256"):
        bias(few, Reference(few.astype(np.float64), few.astype(np.float64)), "float32", 3)
    with pytest.raises(TypeError, match="needs the scale S"):
        bias(np.ones(300, np.float32), Reference(np.ones(300)), "float32", 3)
