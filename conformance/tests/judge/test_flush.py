"""Flush to zero, rule by rule: only where the device declares it, and only after a failure."""

import math

import numpy as np
import pytest
from ep_conformance.judge import compare as judge
from ep_conformance.judge.ulp import numpy_dtype
from ep_primitives.judging.accuracy import Conditioned, Exact, Ulps
from ep_primitives.judging.reference import Reference
from mutation import mutated

SUBNORMAL = 2.0**-140
compare = judge.compare


def judged(result, reference, accuracy, dtype="float32", **options):
    reference = reference if isinstance(reference, Reference) else Reference(np.array([reference], np.float64))
    return compare(np.array([result], numpy_dtype(dtype)), reference, accuracy, dtype, **options)


def test_rule_a_results_pass_only_where_declared():
    assert not judged(0.0, SUBNORMAL, Ulps(4)).passes
    assert judged(0.0, SUBNORMAL, Ulps(4), flushes=True).passes
    assert judged(-0.0, SUBNORMAL, Exact(), flushes=True).passes
    assert not judged(0.0, 2.0**-120, Ulps(4), flushes=True).passes


def recomputed(inputs):
    return Reference(np.asarray(inputs["x"], np.float64) * 2.0**100)


def test_rule_b_inputs_pass_only_where_declared():
    inputs = {"x": np.array([SUBNORMAL], np.float32)}
    reference = recomputed(inputs)
    assert not judged(0.0, reference, Exact(), inputs=inputs, recompute=recomputed).passes
    assert judged(0.0, reference, Exact(), flushes=True, inputs=inputs, recompute=recomputed).passes
    assert judged(-0.0, reference, Exact(), flushes=True, inputs=inputs, recompute=recomputed).passes
    assert not judged(1.0, reference, Exact(), flushes=True, inputs=inputs, recompute=recomputed).passes


def test_rule_b_comparisons_see_flushed_inputs_only_where_declared():
    def is_positive(inputs):
        return Reference(np.asarray(inputs["x"]) > 0)

    inputs = {"x": np.array([SUBNORMAL, 1.0], np.float32)}
    result = np.array([False, True])
    for flushes in (True, False):
        options = {"flushes": flushes, "inputs": inputs, "recompute": is_positive}
        assert compare(result, is_positive(inputs), Exact(), "bool", **options).passes is flushes
        assert not compare(~result, is_positive(inputs), Exact(), "bool", **options).passes


def test_rule_b_of_two_subnormal_inputs_the_second_is_never_flushed_alone():
    def first_over_second(inputs):
        a, b = (np.asarray(inputs[name], np.float64) for name in "ab")
        with np.errstate(all="ignore"):
            return Reference(a / b)

    inputs = {"a": np.array([SUBNORMAL], np.float32), "b": np.array([2 * SUBNORMAL], np.float32)}
    reference = first_over_second(inputs)
    options = {"flushes": True, "inputs": inputs, "recompute": first_over_second}
    assert judged(0.0, reference, Exact(), **options).passes  # the first alone
    assert judged(math.nan, reference, Exact(), **options).passes  # both
    assert not judged(math.inf, reference, Exact(), **options).passes  # the second alone


def test_rule_b_flushed_inputs_of_sums_apply_to_every_element():
    def row_sums(inputs):
        return Reference(np.asarray(inputs["x"], np.float64).sum(axis=1) * 2.0**100)

    inputs = {"x": np.array([[SUBNORMAL, 0, 0], [1, 1, 0]], np.float32)}
    options = {"inputs": inputs, "recompute": row_sums, "is_elementwise": False}
    result = np.array([0, 2.0**101], np.float32)
    assert compare(result, row_sums(inputs), Exact(), "float32", flushes=True, **options).passes
    assert not compare(result + 1, row_sums(inputs), Exact(), "float32", flushes=True, **options).passes
    assert not compare(result, row_sums(inputs), Exact(), "float32", flushes=False, **options).passes


def test_rule_b_many_subnormal_inputs_are_flushed_at_once():
    def scaled_sum(inputs):
        return Reference(sum(np.asarray(value, np.float64) for value in inputs.values()) * 2.0**100)

    inputs = {f"x{place}": np.array([SUBNORMAL], np.float32) for place in range(40)}
    result = np.zeros(1, np.float32)
    options = {"inputs": inputs, "recompute": scaled_sum, "flushes": True}
    assert compare(result, scaled_sum(inputs), Exact(), "float32", **options).passes


def test_rule_b_inputs_of_either_sign_count():
    """1 / x tells the sign of a zero."""

    def inverse(inputs):
        with np.errstate(divide="ignore"):
            return Reference(1 / (2.0**100 * np.asarray(inputs["x"], np.float64)))

    inputs = {"x": np.array([SUBNORMAL], np.float32)}
    for infinity in (math.inf, -math.inf):
        assert judged(infinity, inverse(inputs), Exact(), flushes=True, inputs=inputs, recompute=inverse).passes


def test_rule_a_reaches_as_far_as_the_bound_does_beneath_the_smallest_normal():
    """|r| - bound * (smallest subnormal) < smallest normal; float32 2^-149 and 2^-126, float16 2^-24 and 2^-14."""
    for dtype, least, normal in (
        ("float16", 2.0**-24, 2.0**-14),
        ("float32", 2.0**-149, 2.0**-126),
        ("float64", 2.0**-1074, 2.0**-1022),
        ("bfloat16", 2.0**-133, 2.0**-126),
    ):
        for sign in (1, -1):
            assert judged(0.0, sign * (normal + 3 * least), Ulps(4), dtype, flushes=True).passes
            assert judged(-0.0, sign * (normal + 3 * least), Ulps(4), dtype, flushes=True).passes
            assert not judged(0.0, sign * (normal + 4 * least), Ulps(4), dtype, flushes=True).passes
            assert not judged(0.0, sign * normal, Exact(), dtype, flushes=False).passes


def test_rule_a_is_for_zeros_alone():
    assert not judged(2.0**-130, 2.0**-140, Ulps(4), flushes=True).passes
    assert not judged(math.nan, 2.0**-140, Ulps(4), flushes=True).passes


def test_rule_a_takes_the_bound_of_a_sum_for_what_it_is():
    """4 eps S = 2^-142 with S = 2^-121: 2^7 smallest subnormals, within which a zero may stand above the smallest normal."""
    for above, passes in ((100, True), (130, False)):
        reference = Reference(np.array([2.0**-126 + above * 2.0**-149]), scale=np.array([2.0**-121]))
        assert judged(0.0, reference, Conditioned(4), flushes=True).passes is passes


def test_rule_c_a_zero_may_stand_for_a_subnormal_result_of_flushed_inputs():
    def of(inputs):
        a, b = (np.asarray(inputs[name], np.float64) for name in "ab")
        return Reference(a * 2.0**40 + b * 2.0**-100)

    inputs = {"a": np.array([SUBNORMAL], np.float32), "b": np.array([2.0**-30], np.float32)}
    options = {"flushes": True, "inputs": inputs, "recompute": of}
    assert of(inputs).value[0] == 2.0**-100 + 2.0**-130
    for zero in (0.0, -0.0):
        assert judged(zero, of(inputs), Exact(), **options).passes  # a becomes 0, and then the sum 2^-130 does
    assert judged(2.0**-130, of(inputs), Exact(), **options).passes  # a alone
    assert not judged(2.0**-131, of(inputs), Exact(), **options).passes


def test_smallest_error_of_all_choices_is_reported():
    def of(inputs):
        return Reference(1 + np.asarray(inputs["x"], np.float64) * 2.0**128)

    inputs = {"x": np.array([SUBNORMAL], np.float32)}
    found = judged(1 + 2.0**-23, of(inputs), Ulps(4), flushes=True, inputs=inputs, recompute=of)
    assert found.margin == pytest.approx(0.5)  # 2 ulps of 1 from the flushed one, far from 1 + 2^-12


MUTANTS = {
    "a: everywhere": (
        "if not flushes or comparison.passes:",
        "if comparison.passes:",
        test_rule_a_results_pass_only_where_declared,
    ),
    "a: nowhere": (
        "(result == 0) & (np.abs(value)",
        "(result != result) & (np.abs(value)",
        test_rule_a_results_pass_only_where_declared,
    ),
    "a: any result": ("(result == 0) & (np.abs(value)", "(np.abs(value)", test_rule_a_is_for_zeros_alone),
    "a: the bound does not count": (
        "- bound * form.smallest_subnormal <",
        "<",
        test_rule_a_reaches_as_far_as_the_bound_does_beneath_the_smallest_normal,
    ),
    "a: at the limit, too": (
        "form.smallest_subnormal < form",
        "form.smallest_subnormal <= form",
        test_rule_a_reaches_as_far_as_the_bound_does_beneath_the_smallest_normal,
    ),
    "a: one bound for all": (
        "bound = 0.5 if isinstance(accuracy, Exact) else _allowed(reference, accuracy, dtype, value)",
        "bound = 0.5",
        test_rule_a_takes_the_bound_of_a_sum_for_what_it_is,
    ),
    "b: +0 alone": ("(None, 0.0, -0.0)", "(None, 0.0)", test_rule_b_inputs_of_either_sign_count),
    "b: -0 alone": ("(None, 0.0, -0.0)", "(None, -0.0)", test_rule_b_inputs_of_either_sign_count),
    "b: the second alone": (
        "elif any(later is not None for later in signs[place + 1 :]):",
        "elif False:",
        test_rule_b_of_two_subnormal_inputs_the_second_is_never_flushed_alone,
    ),
    "b: in its place alone": (
        "enumerate(chosen.items() if is_elementwise else ())",
        "enumerate(chosen.items())",
        test_rule_b_flushed_inputs_of_sums_apply_to_every_element,
    ),
    "b: no more than three": (
        "each if len(names) <= _MOST_APART else ((0.0,) * len(names), (-0.0,) * len(names))",
        "each if len(names) <= _MOST_APART else ()",
        test_rule_b_many_subnormal_inputs_are_flushed_at_once,
    ),
    "c: not at all": (
        "again = np.where(_flushed(result, other, accuracy, dtype), 0.0, again)",
        "pass",
        test_rule_c_a_zero_may_stand_for_a_subnormal_result_of_flushed_inputs,
    ),
    "the last error is reported": (
        "reach & ~(ratio <= again)",
        "reach & (ratio <= again)",
        test_smallest_error_of_all_choices_is_reported,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_is_missed_where_it_is_changed(monkeypatch, name):
    old, new, test = MUTANTS[name]
    monkeypatch.setitem(globals(), "compare", mutated(judge, old, new).compare)
    with pytest.raises((AssertionError, ValueError)):
        test()
