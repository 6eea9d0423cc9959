"""Reduce: its descriptors, geometry, messages, and references against exact arithmetic."""

import itertools
import math
import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import REDUCE_OPS, Conditioned, Exact, Reduce, Ulps
from ep_primitives.elementwise.op import INTEGERS
from ep_primitives.families.reduce.family import ReduceFamily
from ep_primitives.reductions.data import random

import ep
from ep import TensorSpec

FAMILY = ReduceFamily()
RNG = np.random.default_rng(6)
INF, NAN = math.inf, math.nan


def spec(*shape, dtype="float32", strides=None, offset=0):
    return TensorSpec(dtype, shape, strides, offset)


def value(op, x, axes=None, **more):
    x = np.asarray(x)
    descriptor = Reduce.infer(op, TensorSpec(x.dtype.name, x.shape), axes, **more)
    return FAMILY.reference(descriptor, {"x": x}).value


def bits(array):
    return np.asarray(array, np.float64).view(np.uint64).tolist()


def test_infer_keeps_or_drops_the_axes():
    x = spec(2, 3, 5)
    assert Reduce.infer("sum", x).out.shape == ()
    assert Reduce.infer("sum", x, keepdims=True).out.shape == (1, 1, 1)
    assert Reduce.infer("sum", x, -1).out.shape == (2, 3)
    assert Reduce.infer("sum", x, (2, 0), keepdims=True).out.shape == (1, 3, 1)
    assert Reduce.infer("sum", x, ()).out.shape == (2, 3, 5)
    assert Reduce.infer("sum", np.zeros((4, 3), np.int8), 0, dtype="int64").out == spec(3, dtype="int64")
    assert Reduce.infer("sum", spec(3, dtype="bool")).out.dtype == "int64"
    assert Reduce.infer("norm_2", spec(3, dtype="complex64")).out.dtype == "float32"


def test_attributes_are_the_axes_in_order():
    made = [Reduce.infer("max", spec(2, 3, 5), axes) for axes in ((2, 0), (-1, -3), [0, 2])]
    assert {descriptor.attributes for descriptor in made} == {(0, 2)}
    assert len(set(made)) == 1
    assert pickle.loads(pickle.dumps(made[0])) == made[0]
    assert made[0].axes == (0, 2)
    assert made[0].terms == 10


def test_geometry_merges_what_stays_and_what_goes():
    descriptor = Reduce.infer("sum", spec(2, 3, 5, 7), (2, 3))
    assert descriptor.kept[:3] == ((6,), ((35,), (1,)), (0, 0))
    assert descriptor.reduced[:3] == ((35,), ((1,),), (0,))
    descriptor = Reduce.infer("sum", spec(2, 1, 5, 7, offset=3), (0, 3))
    assert descriptor.kept[:3] == ((5,), ((7,), (1,)), (3, 0))
    assert descriptor.reduced[:3] == ((2, 7), ((35, 1),), (3,))
    assert descriptor.geometry.shape == (5, 2, 7)
    assert descriptor.geometry.strides == ((7, 35, 1), (1, 0, 0))
    assert descriptor.geometry.size == descriptor.flops == 70


def test_a_row_is_walked_in_an_order_that_its_strides_alone_decide():
    turned = Reduce.infer("sum", spec(4, 5, 6, strides=(1, 24, 4)), (0, 2))
    assert turned.reduced[:2] == ((24,), ((1,),))
    repeated = Reduce.infer("sum", spec(4, 5, 6, strides=(1, 4, 0)), (0, 2))
    assert repeated.reduced[:2] == ((6, 4), ((0, 1),))
    for kept in (1, 9):
        one = Reduce.infer("sum", spec(kept, 3, 7, strides=(100, 2, 6)), (1, 2))
        assert one.reduced[:2] == ((21,), ((2,),))


def test_an_output_that_keeps_its_dimensions_has_the_same_geometry():
    x = spec(4, 5, 6)
    long = Reduce("sum", x=x, out=spec(1, 5, 1), axis=(0, 2))
    short = Reduce("sum", x=x, out=spec(5), axis=(0, 2))
    assert long.kept == short.kept
    assert long.geometry == short.geometry


def test_keys_know_no_sizes_nor_axes():
    keys = {Reduce.infer("sum", spec(n, 128), axes).key for n in (4, 5, 6) for axes in (1, -1)}
    assert len(keys) == 1
    wrapped, wide = (Reduce.infer("sum", spec(8, dtype="int8"), dtype=dtype) for dtype in ("int8", "int64"))
    assert wrapped.key != wide.key


@pytest.mark.parametrize("op", ["sum", "prod"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_small_integers_are_widened_as_numpy_widens_them_and_wrap_by_request_alone(op, dtype):
    x = np.full(200, np.iinfo(dtype).max, dtype)
    usual = Reduce.infer(op, x)
    assert usual.out.dtype == getattr(np, op)(x).dtype.name
    assert REDUCE_OPS[op].usual_out(dtype) == usual.out.dtype
    assert Reduce.infer(op, x, dtype=dtype).out.dtype == dtype
    assert ReduceFamily().reference(usual, {"x": x}).value == getattr(np, op)(x)


def test_float32_is_summed_into_float64_since_suite_1_1_and_by_request_alone():
    assert Reduce.infer("sum", spec(3)).out.dtype == "float32"
    x = np.array([1.0, 2.0**-40, -1.0], np.float32)
    descriptor = Reduce.infer("sum", x, dtype="float64")
    assert ReduceFamily().reference(descriptor, {"x": x}).value == 2.0**-40
    ages = {str(cell): ReduceFamily().since(cell) for cell in ReduceFamily().cells()}
    younger = {name for name, since in ages.items() if since != "1.0"}
    assert younger == {name for name in ages if name.startswith("reduce/sum/float32->float64/")} != set()
    assert {ages[name] for name in younger} == {"1.1"}


@pytest.mark.parametrize(
    ("shape", "axes", "layout"),
    [
        ((3, 4), (0,), "dense"),
        ((), (), "rank0"),
        ((3, 0), (1,), "empty"),
        ((0, 3), (1,), "empty"),
        ((3,), (0,), "dense"),
    ],
)
def test_layouts(shape, axes, layout):
    assert Reduce.infer("sum", spec(*shape), axes).cell == f"reduce/sum/float32/{layout}"


def test_layouts_of_strides_and_offsets():
    assert Reduce.infer("any", spec(3, 4, strides=(1, 3)), 0).cell == "reduce/any/float32->bool/strided"
    assert Reduce.infer("any", spec(3, 4, offset=1), 0).cell == "reduce/any/float32->bool/offset"


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: Reduce.infer("summ", spec(3)), ValueError, ("reduce: op 'summ'", "near it are sum", "log_sum_exp")),
        (lambda: Reduce.infer("sum", "x"), TypeError, ("sum: x is 'x'", "TensorSpec")),
        (lambda: Reduce("sum", x=np.zeros(3), out=spec(), axis=0), TypeError, ("sum: x is", "TensorSpec.of(array)")),
        (lambda: Reduce("sum", x=spec(3), out=3, axis=0), TypeError, ("sum: out is 3",)),
        (lambda: Reduce.infer("mean", spec(3, dtype="int8")), ValueError, ("mean: x has dtype int8", "cast")),
        (lambda: Reduce.infer("max", spec(3, dtype="complex64")), ValueError, ("max: x has dtype complex64", "bool")),
        (
            lambda: Reduce.infer("sum", spec(3, dtype="int8"), dtype="int16"),
            ValueError,
            ("sum: out has dtype int16", "one of int8, int64", "describe out so"),
        ),
        (lambda: Reduce.infer("sum", spec(3), dtype="f32"), ValueError, ("sum: dtype is 'f32'",)),
        (lambda: Reduce.infer("sum", spec(3, 4), (0, 2)), ValueError, ("axis is (0, 2)", "rank 2", "from -2 to 1")),
        (lambda: Reduce.infer("sum", spec(), 0), ValueError, ("axis is (0,)", "rank 0", "needs none")),
        (
            lambda: Reduce.infer("sum", spec(3, 4), (1, -1)),
            ValueError,
            ("axis is (1, -1), which names one axis twice", "once"),
        ),
        (lambda: Reduce.infer("sum", spec(3, 4), 0.5), TypeError, ("axis is 0.5", "integers", "()")),
        (lambda: Reduce.infer("sum", spec(3, 4), "01"), TypeError, ("axis is '01'", "integers")),
        (
            lambda: Reduce("sum", x=spec(3, 4), out=spec(4, 1), axis=1),
            ValueError,
            ("sum: x (3, 4) over axes (1,)", "out (4, 1)", "needs (3,) or (3, 1)"),
        ),
        (
            lambda: Reduce("sum", x=spec(3, 4), out=spec(3, strides=(0,)), axis=1),
            ValueError,
            ("sum: out", "overlaps itself"),
        ),
    ],
)
def test_descriptor_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as raised:
        make()
    for part in parts:
        assert part in str(raised.value)


IDENTITIES = {
    "sum": 0,
    "prod": 1,
    "mean": NAN,
    "max": -INF,
    "min": INF,
    "sum_of_squares": 0,
    "norm_1": 0,
    "norm_2": 0,
    "norm_inf": 0,
    "log_sum_exp": -INF,
}  # fmt: skip - one table


def test_a_row_of_nothing_gives_the_identity():
    for op, row in REDUCE_OPS.items():
        for dtype, outs in row.outs.items():
            for out in outs:
                descriptor = Reduce.infer(op, spec(3, 0, dtype=dtype), 1, dtype=out)
                x = np.zeros((3, 0), getattr(ml_dtypes, dtype, dtype))
                result = FAMILY.reference(descriptor, {"x": x}).value
                if op in {"any", "all"}:
                    wanted = op == "all"
                elif op in {"max", "min"} and ep.dtype(out).kind in "biu":
                    low, high = (False, True) if out == "bool" else ep.dtype(out).range
                    wanted = low if op == "max" else high
                else:
                    wanted = IDENTITIES[op]
                np.testing.assert_array_equal(result, np.full(3, wanted), strict=out == "bool")
                np.testing.assert_array_equal(np.float64(row.identity_of(out)), np.float64(wanted))


def exact_row(op, terms):
    parts = [Fraction(term) for term in terms]
    match op:
        case "sum":
            return sum(parts)
        case "mean":
            return sum(parts) / len(parts)
        case "prod":
            return math.prod(parts)
        case "sum_of_squares":
            return sum(part * part for part in parts)
        case "norm_1":
            return sum(map(abs, parts))
    return None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["sum", "mean", "prod", "sum_of_squares", "norm_1"])
def test_reference_is_the_exact_result_rounded_once(op, dtype):
    x = random(RNG, op, dtype, 7, 301)
    descriptor = Reduce.infer(op, TensorSpec(dtype, x.shape), 1)
    reference = FAMILY.reference(descriptor, {"x": x})
    share = Fraction(2) ** (-62 if dtype == "float64" else -50)
    for row, result, size in zip(x.tolist(), reference.value.tolist(), reference.scale.tolist(), strict=True):
        exact = exact_row(op, row)
        own = abs(exact) / 2**53 if dtype == "float64" else 0
        assert abs(Fraction(result) - exact) <= own + Fraction(size) * share * (301 if op == "prod" else 9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_and_log_sum_exp_agree_with_many_digits(dtype):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(200):
        for op in ("norm_2", "log_sum_exp"):
            x = random(RNG, op, dtype, 5, 67)
            x[1] *= 30
            for row, result in zip(x, value(op, x, 1), strict=True):
                terms = [mpmath.mpf(float(term)) for term in row]
                if op == "norm_2":
                    exact = mpmath.sqrt(mpmath.fsum(term * term for term in terms))
                else:
                    exact = mpmath.log(mpmath.fsum(mpmath.exp(term) for term in terms))
                assert abs(result - exact) <= abs(exact) * 2**-52


def test_complex_references_agree_with_their_parts():
    x = (RNG.standard_normal((3, 41)) + 1j * RNG.standard_normal((3, 41))).astype(np.complex64)
    wide = x.astype(np.complex128)
    np.testing.assert_allclose(value("sum", x, 1), wide.real.sum(1) + 1j * wide.imag.sum(1), rtol=1e-14)
    product = [math.prod(row) for row in wide.tolist()]
    np.testing.assert_allclose(value("prod", x, 1), product, rtol=1e-12)
    squares = wide.real**2 + wide.imag**2
    np.testing.assert_allclose(value("sum_of_squares", x, 1), squares.sum(1), rtol=1e-14)
    np.testing.assert_allclose(value("norm_1", x, 1), np.sqrt(squares).sum(1), rtol=1e-14)
    np.testing.assert_allclose(value("norm_2", x, 1), np.sqrt(squares.sum(1)), rtol=1e-14)
    np.testing.assert_allclose(value("norm_inf", x, 1), np.sqrt(squares.max(1)), rtol=1e-14)


@pytest.mark.parametrize(
    ("dtype", "out"), [("int8", "int8"), ("int8", "int64"), ("uint16", "uint16"), ("uint64", "uint64")]
)
def test_integers_wrap(dtype, out):
    low, high = ep.dtype(dtype).range
    x = RNG.integers(low, high, (5, 37), dtype=dtype, endpoint=True) | np.dtype(dtype).type(1)
    least, most = ep.dtype(out).range
    for op, exact in (("sum", sum), ("prod", math.prod)):
        wanted = [(exact(row) - least) % (most - least + 1) + least for row in x.tolist()]
        assert value(op, x, 1, dtype=out).tolist() == wanted


def test_bools_are_counted_and_any_byte_is_true():
    x = np.array([[0, 1, 2, 255], [0, 0, 0, 0], [1, 128, 7, 3]], np.uint8).view(np.bool_)
    assert value("sum", x, 1).tolist() == [3, 0, 4]
    assert value("any", x, 1).tolist() == value("max", x, 1).tolist() == [True, False, True]
    assert value("all", x, 1).tolist() == value("min", x, 1).tolist() == [False, False, True]


def test_any_and_all_take_nan_for_true_and_negative_zero_for_false():
    x = np.array([[-0.0, NAN], [-0.0, 0.0], [INF, NAN]], np.float32)
    assert value("any", x, 1).tolist() == [True, False, True]
    assert value("all", x, 1).tolist() == [False, False, True]
    z = np.array([0j, 1j, complex(0, NAN)], np.complex64)
    assert value("any", z[:1]) == False  # noqa: E712 - a NumPy bool
    assert value("all", z[1:])


def test_nan_wins_over_infinity_in_any_place():
    for op, place in itertools.product(("max", "min", "norm_1", "norm_2", "norm_inf", "log_sum_exp"), range(4)):
        x = np.array([1.0, INF, -INF, 2.0], np.float32)
        x[place] = NAN
        assert math.isnan(value(op, x)), op


def test_infinities():
    ends = np.array([[INF, 1.0], [-INF, 1.0], [INF, -INF], [-INF, -INF]], np.float32)
    wanted = {
        "sum": [INF, -INF, NAN, -INF],
        "prod": [INF, -INF, -INF, INF],
        "mean": [INF, -INF, NAN, -INF],
        "max": [INF, 1, INF, -INF],
        "min": [1, -INF, -INF, -INF],
        "sum_of_squares": [INF] * 4,
        "norm_1": [INF] * 4,
        "norm_2": [INF] * 4,
        "norm_inf": [INF] * 4,
        "log_sum_exp": [INF, 1, INF, -INF],
    }  # fmt: skip - a table
    for op, row in wanted.items():
        np.testing.assert_array_equal(value(op, ends, 1), np.array(row, np.float64), err_msg=op)


def test_signed_zeros():
    zeros = np.array([[-0.0, -0.0, -0.0], [0.0, -0.0, -0.0], [-0.0, 0.0, 0.0], [-0.0, -0.0, -1.0]], np.float32)
    assert bits(value("max", zeros, 1)) == bits([-0.0, 0.0, 0.0, -0.0])
    assert bits(value("min", zeros, 1)) == bits([-0.0, -0.0, -0.0, -1.0])
    assert bits(value("prod", zeros, 1)) == bits([-0.0, 0.0, -0.0, -0.0])
    assert bits(value("norm_inf", zeros, 1)) == bits([0.0, 0.0, 0.0, 1.0])
    assert bits(value("norm_1", zeros, 1)) == bits([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("dtype", "huge"), [("float32", 2e38), ("float64", 1e308), ("float64", 1e-300)])
def test_norm_2_is_right_where_squares_are_not(dtype, huge):
    assert value("norm_2", np.array([0.3, 0.4], dtype) * np.dtype(dtype).type(huge)) == pytest.approx(
        0.5 * huge, rel=1e-7
    )


def test_log_sum_exp_does_not_overflow_before_its_result():
    assert value("log_sum_exp", np.array([1e4, 1e4], np.float32)) == pytest.approx(1e4 + math.log(2))
    assert value("log_sum_exp", np.array([-1e4, -1e4], np.float32)) == pytest.approx(-1e4 + math.log(2))
    assert value("log_sum_exp", np.array([3.5], np.float32)) == 3.5


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_references_reduce_the_axes_that_are_named(axes):
    x = RNG.integers(-99, 99, (3, 4, 5))
    for keeps in (False, True):
        np.testing.assert_array_equal(value("sum", x, axes, keepdims=keeps), x.sum(axes, keepdims=keeps), strict=True)
        np.testing.assert_array_equal(value("max", x, axes, keepdims=keeps), x.max(axes, keepdims=keeps), strict=True)


def test_rows_say_what_they_promise():
    for row in REDUCE_OPS.values():
        assert all((row.definition, row.source, row.accuracy)), row.name
        for dtype, outs in row.outs.items():
            for n in (0, 1, 2, 1000):
                for out in outs:
                    promise = row.accuracy_of(dtype, out, n)
                    assert isinstance(promise, Exact | Conditioned | Ulps)
                    if ep.dtype(out).kind not in "fc" or row.name in {"max", "min"}:
                        assert promise == Exact()
