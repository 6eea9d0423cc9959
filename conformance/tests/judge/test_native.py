"""The comparison in C says what the one in NumPy says."""

import numpy as np
import pytest
from ep_conformance.judge.compare import compare
from ep_conformance.judge.native import compare_native
from ep_primitives.judging.accuracy import Conditioned, Exact, Ulps
from ep_primitives.judging.reference import Reference

TINY = 2.0**-149
VALUES = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        2.0,
        3.0,
        1 / 3,
        1 + 2.0**-24,
        1 - 2.0**-25,
        3.4e38,
        2.0**128,
        1e39,
        -1e300,
        1e-40,
        TINY,
        TINY / 2,
        5e-324,
        2.0**-126,
        np.inf,
        -np.inf,
        np.nan,
    ]
)  # fmt: skip - by size
ACCURACIES = [Exact(), Ulps(0.5), Ulps(3), Ulps(4, floor=2.0**-26), Conditioned(2), Conditioned(0.25)]


def pairs():
    """Every value as a reference, with the float32 around it and every other one as results."""
    with np.errstate(over="ignore"):
        near = VALUES.astype(np.float32)
    steps = [near]
    for towards in (np.float32(-np.inf), np.float32(np.inf)):
        step = near
        for _ in range(5):
            step = np.nextafter(step, towards)
            steps.append(step)
    result = np.concatenate([*steps, *(np.roll(near, shift) for shift in range(1, near.size))])
    return result, np.tile(VALUES, result.size // VALUES.size)


@pytest.mark.parametrize("accuracy", ACCURACIES, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e-30, np.inf])
def test_native_comparison_agrees_with_numpy_element_by_element(accuracy, scale):
    result, value = pairs()
    for got, ref in zip(result, value, strict=True):
        reference = Reference(np.array([ref]), np.array([scale]))
        one = compare(np.array([got]), reference, accuracy, "float32")
        worst = compare_native(np.array([got]), reference, accuracy)
        assert worst.wrong == one.fails.sum(), (got, ref)
        if one.passes:
            assert worst.ratio == pytest.approx(one.margin or 0, abs=1e-300), (got, ref)
            assert worst.error == pytest.approx(one.worst_error or 0, abs=1e-300), (got, ref)


def test_native_comparison_finds_the_worst_of_many():
    rng = np.random.default_rng(7)
    value = rng.normal(size=4096)
    result = value.astype(np.float32)
    result[1234] += 9 * np.spacing(result[1234])
    result[77] += 2 * np.spacing(result[77])
    worst = compare_native(result, Reference(value), Ulps(3))
    assert (worst.at, worst.wrong) == (1234, 1)
    assert worst.ratio == compare(result, Reference(value), Ulps(3), "float32").margin
