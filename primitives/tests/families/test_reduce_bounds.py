"""The bound on sums: good sums pass it, bad ones do not, and there are cases that tell the two apart."""

import math

import numpy as np
import pytest
from ep_primitives import REDUCE_OPS, Reduce
from ep_primitives.families.reduce.data import CONTENTS
from ep_primitives.families.reduce.family import ReduceFamily
from ep_primitives.families.reduce.rows import summation

from ep import TensorSpec

FAMILY = ReduceFamily()
EPS = 2.0**-23


def k_of(result, x):
    """Return |error| / (eps S) of float32 sums of the rows of x, less half an ulp of the result."""
    wide = x.astype(np.float64)
    error = np.abs(result.astype(np.float64) - wide.sum(-1)) - np.abs(result) * EPS / 2
    return (error / (EPS * np.abs(wide).sum(-1))).max()


def one_by_one(x):
    return np.add.accumulate(x, -1)[..., -1]


def in_pairs(x):
    while x.shape[-1] > 1:
        odd = x[..., x.shape[-1] // 2 * 2 :]
        x = np.concatenate([x[..., 0:-1:2] + x[..., 1::2], odd], -1)
    return x[..., 0]


def in_lanes(x, lanes, chunk):
    """Sum chunks in so many lanes, each one by one, then the lanes and the chunks in pairs."""
    padded = np.pad(x, ((0, 0), (0, -x.shape[-1] % chunk)))
    parts = padded.reshape(x.shape[0], -1, chunk // lanes, lanes)
    return in_pairs(in_pairs(np.add.accumulate(parts, 2)[:, :, -1]))


def rows_of(name, shape, op="sum"):
    content = next(each for each in CONTENTS if each.name == name)
    return content.rows(np.random.default_rng(3), op, "float32", shape)


def test_few_terms_may_be_added_in_any_order_and_many_may_not():
    assert [summation(n) for n in (0, 1, 2, 3)] == [0, 0, 0.5, 1]
    assert [summation(n) for n in (64, 128, 1 << 20)] == [31.5, 32, 38.5]
    assert all(math.ceil(math.log2(n)) / 2 <= summation(n) <= (n - 1) / 2 for n in range(1, 5000))
    assert all(summation(n) <= summation(n + 1) for n in range(5000))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 9, 13, 17])
def test_any_order_of_few_terms_passes(n):
    rng = np.random.default_rng(n)
    for x in (rng.uniform(1, 2, (2000, n)), rng.uniform(-2, 2, (2000, n)), 2.0 ** rng.integers(-20, 20, (2000, n))):
        assert k_of(one_by_one(x.astype(np.float32)), x.astype(np.float32)) <= summation(n)


@pytest.mark.parametrize("n", [257, 1025, 4097, 70001])
@pytest.mark.parametrize("name", ["same-sign", "cancelling", "one-large", "equal", "halves"])
def test_sums_in_pairs_and_in_lanes_pass(name, n):
    x = rows_of(name, (64, n))
    limit = summation(n)
    assert k_of(in_pairs(x), x) <= limit / 2
    for lanes, chunk in ((8, 1024), (16, 4096), (64, 16384), (256, 65536)):
        assert k_of(in_lanes(x, lanes, chunk), x) <= limit, (lanes, chunk)


@pytest.mark.parametrize(
    ("name", "n"), [("halves", 1025), ("halves", 4097), ("halves", 70001), ("same-sign", 70001), ("equal", 70001)]
)
def test_long_sums_one_by_one_fail(name, n):
    x = rows_of(name, (11, n))
    assert k_of(one_by_one(x), x) > summation(n)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_in_a_narrow_type_fail_at_every_length(dtype):
    for n in (17, 67, 257, 4097):
        content = next(each for each in CONTENTS if each.name == "same-sign")
        x = content.rows(np.random.default_rng(3), "sum", dtype, (11, n))
        descriptor = Reduce.infer("sum", TensorSpec(dtype, x.shape), 1)
        reference = FAMILY.reference(descriptor, {"x": x})
        half = np.spacing(np.abs(reference.value.astype(x.dtype))).astype(np.float64) / 2
        allowed = FAMILY.accuracy(descriptor).k * EPS * reference.scale + half
        error = np.abs(one_by_one(x).astype(np.float64) - reference.value)
        assert (error > allowed).any(), n


def test_the_other_bounds_follow_from_that_of_sums():
    def k(op, n, dtype="float32", out="float32"):
        return REDUCE_OPS[op].accuracy_of(dtype, out, n).k

    assert k("sum", 1024) == 33.5
    assert k("mean", 1024) == 34.5
    assert k("prod", 1024) == 511.5
    assert k("sum_of_squares", 1024) == 34
    assert k("norm_2", 1024) == 18
    assert k("norm_1", 1024) == 33.5
    assert k("log_sum_exp", 1024) == 37.5
    assert k("sum_of_squares", 1024, "complex64") == 34.5
    assert k("norm_1", 1024, "complex64") == 35.5
    assert k("prod", 3, "complex64", "complex64") == pytest.approx(math.sqrt(5), abs=0.01)
    assert [k(op, 1) for op in ("sum", "prod", "log_sum_exp")] == [0, 0, 0]


@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0])
def test_log_sum_exp_in_float32_is_within_its_bound(spread):
    rng = np.random.default_rng(4)
    for n, middle in ((2, 0.0), (67, 80.0), (1025, -1e4), (257, 3.0)):
        x = (middle + spread * rng.standard_normal((200, n))).astype(np.float32)
        top = x.max(-1)
        result = top + np.log(in_pairs(np.exp(x - top[:, None])))
        descriptor = Reduce.infer("log_sum_exp", TensorSpec.of(x), 1)
        reference = FAMILY.reference(descriptor, {"x": x})
        allowed = FAMILY.accuracy(descriptor).k * EPS * reference.scale + np.spacing(np.abs(result)) / 2
        assert (np.abs(result - reference.value) <= allowed).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_products_and_norms_in_the_compute_type_are_within_their_bounds(dtype):
    rng = np.random.default_rng(5)
    for n in (2, 17, 257):
        turn = np.exp(2j * np.pi * rng.random((300, n))) if dtype == "complex64" else rng.choice([-1, 1], (300, n))
        x = (rng.uniform(0.7, 1.4, (300, n)) * turn).astype(dtype)
        squares = x.real**2 + x.imag**2 if dtype == "complex64" else x * x
        results = {
            "prod": np.multiply.accumulate(x, -1)[..., -1],
            "norm_2": np.sqrt(in_pairs(squares)),
            "sum_of_squares": in_pairs(squares),
            "norm_1": in_pairs(np.abs(x)),
        }
        for op, result in results.items():
            descriptor = Reduce.infer(op, TensorSpec(dtype, x.shape), 1)
            reference = FAMILY.reference(descriptor, {"x": x})
            allowed = FAMILY.accuracy(descriptor).k * EPS * reference.scale + np.spacing(np.abs(result)) / 2
            assert (np.abs(result - reference.value) <= allowed).all(), op
