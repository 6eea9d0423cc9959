"""Sensitivity: a comparison that became too slack or too strict makes its cases mistrusted, whatever the result."""

import math
from functools import partial

import ml_dtypes
import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge import compare as judge
from ep_conformance.judge.compare import Comparison, compare
from ep_conformance.judge.outcome import Status
from ep_conformance.judge.sensitivity import misjudged
from ep_conformance.judge.ulp import numpy_dtype, rounded
from ep_conformance.plan.catalogue import find
from ep_conformance.run.steps.path import run_case
from ep_primitives.judging.accuracy import EXACT, Conditioned, Ulps
from ep_primitives.judging.reference import Reference

import ep

CASES = (
    "elementwise_unary/exp/float32/dense/designed",
    "elementwise_unary/gelu/float64/dense/table",
    "elementwise_unary/sqrt/complex64/dense/designed",
    "elementwise_unary/relu/float16/dense/designed",
    "broadcast_binary/add/int32/dense/designed",
    "reduce/sum/float32/dense/rows",
    "softmax/-/bfloat16/dense/rows",
    "matmul/-/float64/dense/33x65x129",
    "matmul/-/float64/strided/transposed-all",
)
ROUNDED = [case for case in CASES if "relu" not in case and "int32" not in case]


def outcome(case, seed=0):
    found = find(f"primitives/{case}")
    trial = Trial(ep.device("cpu:0"), found.id, seed)
    try:
        return run_case(trial, found.family, found.case)
    finally:
        trial.close()


@pytest.mark.parametrize("case", CASES)
def test_good_judge_is_trusted(case):
    assert outcome(case).status is Status.PASS


@pytest.mark.parametrize("case", ROUNDED)
def test_bound_that_is_too_slack_is_noticed(monkeypatch, case):
    allowed = judge._allowed
    monkeypatch.setattr(judge, "_allowed", lambda *given: 2 * allowed(*given))
    found = outcome(case)
    assert found.status is Status.MISTRUSTED
    assert "the comparison could not have shown a fault" in found.reason
    assert "would pass" in found.reason


@pytest.mark.parametrize("case", CASES)
def test_judge_that_sees_one_side_alone_or_nothing_is_noticed(monkeypatch, case):
    measure = judge._measure

    def blind(result, reference, accuracy, dtype):
        seen = measure(result, reference, accuracy, dtype)
        few = (seen.ratio > 1).sum() < 2  # one wrong element is none
        return Comparison(np.where(few, 0.0, seen.ratio), seen.error)

    monkeypatch.setattr(judge, "_measure", blind)
    assert outcome(case).status is Status.MISTRUSTED


def test_judge_that_is_too_strict_is_noticed(monkeypatch):
    allowed = judge._allowed
    monkeypatch.setattr(judge, "_allowed", lambda *given: allowed(*given) / 4)
    x = np.linspace(1.1, 1.9, 64)
    found = misjudged("a", x.astype(np.float32), Reference(x), Ulps(8), measured(Reference(x), Ulps(8), "float32"))
    assert "would fail" in found


def measured(reference, accuracy, dtype):
    return partial(compare, reference=reference, accuracy=accuracy, dtype=dtype)


def verdicts(value, accuracy, dtype, **more):
    """Return what is said of the comparison with many choices of elements."""
    reference = Reference(np.asarray(value), **more)
    right = np.array(rounded(reference.value, dtype) if numpy_dtype(dtype).kind not in "biu" else reference.value)
    measure = measured(reference, accuracy, dtype)
    return {misjudged(str(name), right, reference, accuracy, measure) for name in range(100)}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("accuracy", [EXACT, Ulps(0.5), Ulps(1), Ulps(8), Ulps(4, floor=2.0**-20), Conditioned(3)])
def test_right_comparisons_are_found_right_at_every_kind_of_element(dtype, accuracy):
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    form = ml_dtypes.finfo(numpy_dtype(part))
    tiny, least, top = float(form.smallest_normal), float(form.smallest_subnormal), float(form.max)
    reals = [0.0, -0.0, 1.0, -1.0, 1.7, math.pi, tiny, 3 * least, -tiny / 2, top, -top, top * (1 - 2.0**-12), 1 / 3]
    if dtype.startswith("complex"):
        value = np.array([complex(re, im) for re in (0.0, 1.5, -3.0, tiny) for im in (0.0, -1.0, 1 / 3)])
        value = np.append(value, [complex(math.nan, 1), complex(math.inf, 0)])
    else:
        value = np.array([*reals, math.nan, math.inf, -math.inf])
    more = {"scale": np.full(value.shape, 2.0)} if isinstance(accuracy, Conditioned) else {}
    more["error"] = 0.5 if dtype == "float64" else 0.0
    assert verdicts(value, accuracy, dtype, **more) == {""}


@pytest.mark.parametrize(("dtype", "value"), [("int8", [127, -128, 0]), ("uint64", [2**64 - 1, 0]), ("bool", [True])])
def test_integers_and_bools_are_tried_with_another_value(dtype, value):
    assert verdicts(np.array(value, dtype), EXACT, dtype) == {""}


def test_element_whose_bound_reaches_beyond_its_type_is_tried_with_nan():
    seen = []

    def measure(tried):
        seen.append(tried.copy())
        return compare(tried, Reference(np.array([1.0]), np.array([1e38])), Conditioned(1e8), "float32")

    one = np.ones(1, np.float32)
    reference = Reference(np.array([1.0]), np.array([1e38]))
    assert misjudged("a", one, reference, Conditioned(1e8), measure) == ""
    assert np.isnan(seen).all()


@pytest.mark.parametrize("right", [math.nan, math.inf, 1e39])
def test_judge_that_accepts_anything_beside_what_is_not_finite_is_noticed(right):
    reference = Reference(np.full(20, right))
    with np.errstate(over="ignore"):
        expected = np.full(20, right, np.float32)
    assert misjudged("a", expected, reference, Ulps(2), measured(reference, Ulps(2), "float32")) == ""
    assert misjudged("a", expected, reference, Ulps(2), lambda tried: Comparison(np.zeros(tried.shape), None))


def test_nothing_and_more_than_a_million_elements_are_left_alone():
    def measure(_):
        raise AssertionError

    for size in (0, (1 << 20) + 1):
        assert misjudged("a", np.zeros(size, np.int8), Reference(np.zeros(size)), EXACT, measure) == ""
