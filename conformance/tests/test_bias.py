"""The bias of sums: what rounds to nearest passes in any order, what truncates fails although every element is in bounds."""

import numpy as np
import pytest
from ep_conformance.bias import LEAST_OUTPUTS, bias
from ep_primitives import Reference

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


def measured(order, keep, seed=0):
    terms = np.random.default_rng(seed).uniform(0.5, 1, (OUTPUTS, TERMS)).astype(np.float32)
    value = terms.astype(np.float64).sum(axis=1)
    return bias(order(terms, keep), Reference(value, value), "float32", TERMS)


@pytest.mark.parametrize("order", [in_sequence, in_lanes, in_pairs])
def test_right_rounding_passes_and_truncation_fails_in_any_order(order):
    assert max(measured(order, rounded, seed) for seed in range(20)) < 0.5
    assert min(measured(order, truncated, seed) for seed in range(5)) > 1


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
