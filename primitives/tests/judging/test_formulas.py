"""References against values found in another way: Python's integers, fractions and math functions."""

import math
import struct

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Cast, ElementwiseUnary, Fill, ep_families
from ep_primitives.families.elementwise_unary import UNARY_OPS

from ep import Scalar, TensorSpec

FAMILIES = {family.name: family for family in ep_families()}
LOW, HIGH = -(2**31), 2**31 - 1
INTEGERS = [0, 1, -1, 2, -2, 7, -7, 46341, -46341, 2**30, LOW, LOW + 1, HIGH]


def wrapped(value):
    return (value - LOW) % 2**32 + LOW


def truncated(a, b):
    return 0 if b == 0 else wrapped(int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b)))


def binary(op, dtype, a, b, **attributes):
    a, b = np.array(a, dtype), np.array(b, dtype)
    spec = TensorSpec(dtype, a.shape)
    descriptor = BroadcastBinary.infer(op, spec, spec, **attributes)
    return FAMILIES["broadcast_binary"].reference(descriptor, {"a": a, "b": b})


def unary(op, dtype, x, **attributes):
    x = np.array(x, dtype)
    descriptor = ElementwiseUnary.infer(op, TensorSpec(dtype, x.shape), **attributes)
    return FAMILIES["elementwise_unary"].reference(descriptor, {"x": x})


def cast(x, dtype):
    descriptor = Cast.infer(TensorSpec(x.dtype.name, x.shape), dtype)
    return FAMILIES["cast"].reference(descriptor, {"x": x}).value


@pytest.mark.parametrize(
    ("op", "exact"),
    [
        ("add", lambda a, b: wrapped(a + b)),
        ("sub", lambda a, b: wrapped(a - b)),
        ("mul", lambda a, b: wrapped(a * b)),
        ("div", truncated),
        ("max", max),
        ("min", min),
        ("equal", lambda a, b: a == b),
        ("less_than", lambda a, b: a < b),
        ("bitwise_and", lambda a, b: a & b),
    ],
)
def test_integers_are_exact_and_wrap(op, exact):
    pairs = [(a, b) for a in INTEGERS for b in INTEGERS]
    value = binary(op, "int32", *zip(*pairs, strict=True)).value
    assert value.tolist() == [exact(a, b) for a, b in pairs]


def test_unary_integers_wrap():
    assert unary("negative", "int32", [5, LOW]).value.tolist() == [-5, LOW]
    assert unary("abs", "int32", [-5, LOW]).value.tolist() == [5, LOW]
    assert unary("relu", "int32", [-5, 5]).value.tolist() == [0, 5]
    assert unary("bitwise_not", "int32", [0, 5]).value.tolist() == [-1, -6]


def test_any_non_zero_byte_is_true():
    odd = np.array([0, 1, 2, 128, 255], np.uint8).view(np.bool_)
    truth = [False, True, True, True, True]
    assert cast(odd, "int32").tolist() == [0, 1, 1, 1, 1]
    assert unary("logical_not", "bool", odd).value.tolist() == [not value for value in truth]
    assert unary("bitwise_not", "bool", odd).value.tolist() == [not value for value in truth]
    assert binary("equal", "bool", odd, odd[::-1].copy()).value.tolist() == [False, True, True, True, False]


def test_bool_sums_are_or_and_products_are_and():
    a, b = [False, False, True, True], [False, True, False, True]
    assert binary("add", "bool", a, b).value.tolist() == [False, True, True, True]
    assert binary("mul", "bool", a, b).value.tolist() == [False, False, False, True]
    assert binary("less_than", "bool", a, b).value.tolist() == [False, True, False, False]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_floating_functions_agree_with_the_math_module(dtype):
    xs = np.array([-9.5, -3.0, -1.0, -0.75, -0.1, 0.01, 0.5, 1.0, 2.5, 9.0], dtype)
    wide = [float(x) for x in xs]
    alpha = struct.unpack("<f", struct.pack("<f", 0.3))[0]
    cases = {
        "exp": [math.exp(x) for x in wide],
        "tanh": [math.tanh(x) for x in wide],
        "gelu": [x * 0.5 * math.erfc(-x / math.sqrt(2)) for x in wide],
        "floor": [math.floor(x) for x in wide],
    }
    for op, expected in cases.items():
        assert unary(op, dtype, xs).value == pytest.approx(expected, rel=1e-13, abs=0)
    elu = unary("elu", dtype, xs, alpha=0.3).value
    assert elu == pytest.approx([x if x > 0 else alpha * math.expm1(x) for x in wide], rel=1e-13, abs=0)
    slope = binary("elu_backward_with_dy_x", dtype, np.full_like(xs, 2), xs, alpha=0.3).value
    assert slope == pytest.approx([2 if x > 0 else 2 * alpha * math.exp(x) for x in wide], rel=1e-13, abs=0)


def test_gradients_agree_with_difference_quotients():
    xs, step = np.linspace(-4, 4, 41), 1e-6
    ones = np.ones_like(xs)
    for op, function, second in (
        ("gelu_backward_with_dy_x", lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)), xs),
        ("tanh_backward_with_dy_y", math.tanh, np.tanh(xs)),
    ):
        quotient = [(function(x + step) - function(x - step)) / (2 * step) for x in xs]
        result = binary(op, "float64", 3 * ones, second)
        assert result.value == pytest.approx(3 * np.array(quotient), abs=1e-8)
        assert (result.scale >= np.abs(result.value) * (1 - 1e-15)).all()


def test_floats_become_integers_by_truncation_and_saturation():
    values = [1.9, -1.9, -0.5, 2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 1e20, -math.inf, math.nan]
    for repeats in (1, 50):  # a reference that leaves it to NumPy depends on the length of the array
        x = np.array(values * repeats, np.float32)
        expected = [1, -1, 0, 2147483520, HIGH, LOW, LOW, HIGH, LOW, 0]
        assert cast(x, "int32").tolist() == expected * repeats
    edges = np.array([2147483647.5, 2147483647.0, -2147483648.5, -2147483649.0])
    assert cast(edges, "int32").tolist() == [HIGH, HIGH, LOW, LOW]


def test_conversions_to_bool_and_between_floats():
    x = np.array([0.0, -0.0, 5e-324, math.nan, -2.0])
    assert cast(x, "bool").tolist() == [False, False, True, True, True]
    assert cast(np.array([2**24 + 1, HIGH], np.int32), "float32").tolist() == [2**24 + 1, HIGH]
    assert math.copysign(1, cast(np.array([-0.0], np.float32), "float16")[0]) == -1


def test_numbers_are_rounded_to_the_compute_type():
    spec = TensorSpec("float16", (2,))
    single = struct.unpack("<f", struct.pack("<f", 0.1))[0]
    assert FAMILIES["fill"].reference(Fill.infer(spec), {"value": 0.1}).value.tolist() == [single, single]
    descriptor = BroadcastBinary.infer("mul", spec, Scalar("float16"))
    inputs = {"a": np.array([1, 2], np.float16), "b": 0.1}
    assert FAMILIES["broadcast_binary"].reference(descriptor, inputs).value.tolist() == [single, 2 * single]


def _ulps(result, reference, dtype):
    info = np.finfo(dtype)
    fraction, exponent = np.frexp(np.abs(reference))
    exponent = np.maximum(exponent - 1 - (fraction == 0.5), info.minexp)
    return np.abs(result.astype(np.float64) - reference) / np.ldexp(1.0, exponent - info.nmant)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_bound_of_gelu_admits_erfc_and_refuses_approximations(dtype):
    from scipy.special import erf, erfc

    x = np.linspace(-13, 6, 20001).astype(dtype)
    reference = unary("gelu", dtype, x).value
    bound = FAMILIES["elementwise_unary"].accuracy(ElementwiseUnary.infer("gelu", TensorSpec(dtype, x.shape)))
    single, half = x.astype(np.float32), np.float32(0.5)
    root = np.float32(math.sqrt(0.5))

    def fails(result):
        result = result.astype(dtype)
        error = np.abs(result.astype(np.float64) - reference)
        return (_ulps(result, reference, dtype) > bound.n) & (error > bound.floor)

    assert not fails(half * single * erfc(-single * root)).any()
    assert fails(half * single * (1 + erf(single * root))).mean() > 0.01
    assert fails(half * single * (1 + np.tanh(np.float32(0.79788456) * (single + 0.044715 * single**3)))).mean() > 0.2


def test_reference_of_gelu_is_as_exact_as_its_row_says_in_the_tail_too():
    """SciPy's erfc is 13 ulp off at the last of these, and the rounding of its argument counts 60 times at -6."""
    from mpmath import mp, ncdf

    x = np.append(np.linspace(-36, 4, 1001), -1.3635933604808272)
    value = unary("gelu", "float64", x).value
    with mp.workprec(200):
        truth = [mp.mpf(each) * ncdf(mp.mpf(each)) for each in x.tolist()]
        errors = [float(abs(mp.mpf(mine) - exact)) for mine, exact in zip(value.tolist(), truth, strict=True)]
    assert (errors / np.spacing(np.abs(value))).max() <= UNARY_OPS["gelu"].error
