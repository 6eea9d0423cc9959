"""Scan: its descriptors, messages, and its reference against exact sums and products one by one."""

import itertools
import math
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
from ep_primitives import SCAN_OPS, Scan
from ep_primitives.families.scan.family import ScanFamily
from hypothesis import given
from hypothesis import strategies as st

from ep import TensorSpec

FAMILY = ScanFamily()
X = TensorSpec("float32", (4, 3, 5))
JOINS = {"sum": operator.add, "prod": operator.mul, "max": max, "min": min}
IDENTITIES = {"sum": 0, "prod": 1, "max": -math.inf, "min": math.inf}


def scanned(op, x, axis=-1, **flags):
    """Return the reference of a scan of an array."""
    x = np.asarray(x)
    return FAMILY.reference(Scan.infer(op, TensorSpec(x.dtype.name, x.shape), axis, **flags), {"x": x})


def one_by_one(op, row, *, exclusive, reverse):
    """Return the scan of a list, as its definition has it."""
    row = row[::-1] if reverse else row
    prefixes = [*itertools.accumulate(row, JOINS[op], initial=IDENTITIES[op])]
    found = prefixes[:-1] if exclusive else prefixes[1:]
    return found[::-1] if reverse else found


FLAGS = {"exclusive": st.booleans(), "reverse": st.booleans()}


@given(st.sampled_from(sorted(SCAN_OPS)), st.lists(st.integers(-9, 9), max_size=20), st.fixed_dictionaries(FLAGS))
def test_reference_is_the_definition(op, row, flags):
    wanted = one_by_one(op, [float(x) for x in row], **flags)
    np.testing.assert_array_equal(scanned(op, np.array(row, np.float64), **flags).value, wanted)


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=20), st.sampled_from(["sum", "prod"]))
def test_integers_wrap(row, op):
    wanted = [(int(x) + 128) % 256 - 128 for x in one_by_one(op, row, exclusive=False, reverse=False)]
    assert scanned(op, np.array(row, np.int8)).value.astype(np.int8).tolist() == wanted


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=300))
def test_sums_are_closer_than_float32_can_tell(row):
    exact = one_by_one("sum", [Fraction(x) for x in row], exclusive=False, reverse=False)
    found = scanned("sum", np.array(row, np.float32)).value
    sizes = one_by_one("sum", [abs(Fraction(x)) for x in row], exclusive=False, reverse=False)
    for value, wanted, size in zip(found.tolist(), exact, sizes, strict=True):
        assert abs(Fraction(value) - wanted) <= size * Fraction(2) ** -44


def test_nan_goes_on_and_zeros_have_an_order():
    row = np.array([1.0, math.nan, 2.0], np.float32)
    for op in SCAN_OPS:
        assert np.isnan(scanned(op, row).value).tolist() == [False, True, True]
        assert np.isnan(scanned(op, row, reverse=True).value).tolist() == [True, True, False]
    zeros = np.array([-0.0, 0.0, -0.0], np.float32)
    assert np.signbit(scanned("max", zeros).value).tolist() == [True, False, False]
    assert np.signbit(scanned("min", -zeros).value).tolist() == [False, True, True]


def test_rows_lie_along_the_axis():
    x = np.random.default_rng(3).integers(-9, 9, (3, 4, 5))
    for axis in (0, 1, 2, -2):
        np.testing.assert_array_equal(scanned("sum", x, axis).value, np.cumsum(x, axis))
    assert scanned("max", np.float32(7), 0).value == 7
    assert scanned("min", np.zeros((2, 0)), 1).value.shape == (2, 0)


def test_bound_is_that_of_a_reduction_of_the_row():
    short, long = (FAMILY.accuracy(Scan.infer("sum", TensorSpec("float32", (n,)))) for n in (8, 1 << 20))
    assert short.k == 3.5
    assert long.k == pytest.approx(31.5 + math.log2((1 << 20) / 64) / 2)


def test_descriptors_are_values():
    made = Scan.infer("sum", X, -2, exclusive=True)
    same = Scan("sum", x=X, out=X, axis=1, exclusive=True, reverse=False)
    assert made == same == pickle.loads(pickle.dumps(made))
    assert made != Scan.infer("sum", X, 1)
    assert (made.axis, made.exclusive, made.reverse, made.extent) == (1, True, False, 3)
    assert eval(repr(made), {"Scan": Scan, "TensorSpec": TensorSpec}) == made


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"op": "mean"}, "scan: op 'mean' is not one of its ops"),
        ({"axis": 3}, "scan/sum: axis is 3, needs an integer from -3 to 2"),
        ({"exclusive": "yes"}, "scan/sum: exclusive is 'yes', needs"),
        ({"out": TensorSpec("float32", (4, 3))}, "scan/sum: x has shape (4, 3, 5), needs (4, 3), the shape of out"),
        ({"out": TensorSpec("float64", (4, 3, 5))}, "scan/sum: out has dtype float64, needs float32"),
        ({"x": TensorSpec("bool", (4, 3, 5))}, "scan/sum: x has dtype bool, needs one of"),
        ({"x": TensorSpec("complex64", (4,)), "op": "max"}, "scan/max: x has dtype complex64, needs one of"),
    ],
)
def test_wrong_arguments_are_named(words, text):
    given_ = {"op": "sum", "x": X, "axis": 0} | words
    with pytest.raises((TypeError, ValueError)) as caught:
        Scan.infer(given_.pop("op"), given_.pop("x"), given_.pop("axis"), **given_)
    assert text in str(caught.value)
