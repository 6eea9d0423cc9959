"""The rows of RandomFill against numbers worked out by other means."""

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from ep_primitives import RANDOM_OPS
from ep_primitives.families.random_fill.rows import words_each

FLOATS = ["float16", "bfloat16", "float32", "float64"]
BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def words_for(dtype, *values):
    return np.array(values, np.uint64 if words_each(dtype) == 2 else np.uint32)


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers_are_multiples_that_the_type_holds_and_never_one(dtype):
    size = 32 * words_each(dtype)
    words = words_for(dtype, 0, 2**size - 1, 1 << (size - 1), 2 ** (size - BITS[dtype]))
    low, high, half, least = RANDOM_OPS["uniform"].value(dtype, words)
    assert (low, high, half, least) == (0, 1 - 2.0 ** -BITS[dtype], 0.5, 2.0 ** -BITS[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_symmetric_and_invert_the_distribution_function(dtype):
    size, bits = 32 * words_each(dtype), {"float32": 32, "float64": 52}[dtype]
    words = words_for(dtype, *(int(2**size * share) for share in (0.001, 0.1, 0.3, 0.4999)))
    below = RANDOM_OPS["normal"].value(dtype, words)
    above = RANDOM_OPS["normal"].value(dtype, ~words)
    assert (below == -above).all()
    for word, z in zip(words.tolist(), below.tolist(), strict=True):
        share = float((Fraction(word >> (size - bits)) + Fraction(1, 2)) / 2**bits)
        assert NormalDist().cdf(z) == pytest.approx(share, rel=1e-12)


def test_normal_numbers_end_where_the_row_says():
    assert RANDOM_OPS["normal"].value("float32", words_for("float32", 0))[0] == pytest.approx(-6.338, abs=0.001)
    assert RANDOM_OPS["normal"].value("float64", words_for("float64", 2**64 - 1))[0] == pytest.approx(8.21, abs=0.005)


def test_bernoulli_is_decided_by_one_step_of_the_word():
    words = words_for("bool", 6, 7, 8)
    row = RANDOM_OPS["bernoulli"]
    assert row.value("bool", words, 7 * 2.0**-32).tolist() == [True, False, False]
    assert row.value("bool", words, 7.5 * 2.0**-32).tolist() == [True, True, False]
    assert not row.value("bool", words_for("bool", 0), 0.0).any()
    assert row.value("bool", words_for("bool", 2**32 - 1), 1.0).all()


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 127),
        ("uint8", 3, 9),
        ("int32", -(2**31), 2**31 - 1),
        ("uint32", 0, 2**32 - 1),
        ("int64", -(2**63), 2**63 - 1),
        ("int64", -5, 2**62 + 12345678901),
        ("uint64", 2**63 + 1, 2**64 - 1),
        ("uint64", 7, 7),
    ],
)
def test_integers_are_the_high_part_of_the_exact_product(dtype, low, high):
    bits = 32 * words_each(dtype)
    words = [0, 1, 2**bits - 1, 2 ** (bits - 1), 0x9E3779B97F4A7C15 % 2**bits, 3**20 % 2**bits]
    found = RANDOM_OPS["integers"].value(dtype, words_for(dtype, *words), low, high)
    assert found.dtype == dtype
    assert found.tolist() == [low + (word * (high - low + 1) >> bits) for word in words]
