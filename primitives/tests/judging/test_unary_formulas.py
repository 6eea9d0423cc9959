"""References of the unary ops against Python's integers, its math functions and mpmath, for every sample of attributes."""

import math

import mpmath
import numpy as np
import pytest
from ep_primitives import UNARY_OPS, Conditioned, ElementwiseUnary, Exact, Ulps
from ep_primitives.elementwise.op import INTEGERS, NUMBERS
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnaryFamily
from ep_primitives.judging.reference import array_dtype

import ep
from ep import TensorSpec

FAMILY = ElementwiseUnaryFamily()
POINTS = np.concatenate([np.random.default_rng(11).uniform(low, -low, 60) for low in (-30.0, -3.5, -0.4)])


def reference(op, dtype, x, **attributes):
    x = np.array(x, dtype)
    descriptor = ElementwiseUnary.infer(op, TensorSpec(dtype, x.shape), **attributes)
    return FAMILY.reference(descriptor, {"x": x})


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def fast_gelu(x):
    return x * sigmoid(2 * mpmath.mpf(math.sqrt(2 / math.pi)) * (x + mpmath.mpf(0.044715) * x**3))


def selu(x):
    scale, alpha = mpmath.mpf(1.0507009873554805), mpmath.mpf(1.6732632423543772)
    return scale * (x if x > 0 else alpha * mpmath.expm1(x))


DEFINITIONS = {
    "elu": lambda x, alpha: x if x > 0 else alpha * mpmath.expm1(x),
    "celu": lambda x, alpha: x if x > 0 else alpha * mpmath.expm1(x / alpha),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "hard_swish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "hard_sigmoid": lambda x: min(max(x + 3, 0), 6) / 6,
    "leaky_relu": lambda x, alpha: x if x > 0 else alpha * x,
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "selu": selu,
    "silu": lambda x: x * sigmoid(x),
    "soft_sign": lambda x: x / (1 + abs(x)),
    "soft_plus": lambda x, beta, end: x if beta * x > end else mpmath.log1p(mpmath.exp(beta * x)) / beta,
    "fast_gelu": fast_gelu,
    "quick_gelu": lambda x: x * sigmoid(mpmath.mpf(1.702) * x),
    "square_relu": lambda x: x * x if x > 0 else 0,
    "digamma": mpmath.digamma,
    "trigamma": lambda x: mpmath.psi(1, x),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "erfc": mpmath.erfc,
    "log_sigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "sigmoid": sigmoid,
    "rsqrt": lambda x: 1 / mpmath.sqrt(abs(x)),
}
SAMPLES = [
    (op, samples)
    for op in DEFINITIONS
    for samples in list(zip(*(attribute.samples for attribute in UNARY_OPS[op].attributes), strict=True)) or [()]
]


@pytest.mark.parametrize(("op", "samples"), SAMPLES)
def test_formula_is_its_definition(op, samples):
    row = UNARY_OPS[op]
    points = np.abs(POINTS) if op == "rsqrt" else POINTS
    names = (attribute.name for attribute in row.attributes)
    got = reference(op, "float64", points, **dict(zip(names, samples, strict=True)))
    accuracy = row.accuracy_of("float64")
    with mpmath.workdps(60):
        wanted = [DEFINITIONS[op](mpmath.mpf(float(x)), *map(mpmath.mpf, samples)) for x in points]
        errors = [float(abs(mpmath.mpf(float(v)) - w)) for v, w in zip(got.value, wanted, strict=True)]
        size = np.array([float(abs(w)) for w in wanted])
    bound = max(got.error, 0.5) * np.spacing(size)
    if isinstance(accuracy, Conditioned):
        bound = bound + got.error * 2.0**-52 * got.scale
        assert (got.scale >= size * (1 - 1e-12)).all()
    if isinstance(accuracy, Ulps):
        bound = np.maximum(bound, accuracy.floor)
    assert (np.array(errors) <= bound).all()


COMPLEX_DEFINITIONS = {
    "acos": mpmath.acos,
    "acosh": mpmath.acosh,
    "asin": mpmath.asin,
    "asinh": mpmath.asinh,
    "atan": mpmath.atan,
    "atanh": mpmath.atanh,
    "cos": mpmath.cos,
    "cosh": mpmath.cosh,
    "exp": mpmath.exp,
    "exp2": lambda z: mpmath.power(2, z),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": mpmath.log10,
    "log1p": lambda z: mpmath.log(1 + z),
    "reciprocal": lambda z: 1 / z,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "sigmoid": sigmoid,
    "sign": lambda z: z / abs(z),
    "sin": mpmath.sin,
    "sinh": mpmath.sinh,
    "sqrt": mpmath.sqrt,
    "square": lambda z: z * z,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "abs": lambda z: mpmath.mpc(abs(z)),
}


def test_every_complex_function_is_compared():
    complex_rows = {name for name, row in UNARY_OPS.items() if "complex128" in row.dtypes}
    inexact = {name for name in complex_rows if not isinstance(UNARY_OPS[name].accuracy_of("complex128"), Exact)}
    assert inexact - {"reciprocal_no_nan"} == set(COMPLEX_DEFINITIONS)


@pytest.mark.parametrize("op", COMPLEX_DEFINITIONS)
def test_complex_formula_is_its_definition(op):
    rng = np.random.default_rng(12)
    near = rng.uniform(-8, 8, (60, 2))
    small = np.exp2(rng.uniform(-50, 6, (60, 2))) * rng.choice([-1, 1], (60, 2))
    z = np.concatenate([near, small]).view(np.complex128)[:, 0]
    got = reference(op, "complex128", z)
    with mpmath.workdps(60):
        wanted = [COMPLEX_DEFINITIONS[op](mpmath.mpc(complex(value))) for value in z]
        errors = [float(abs(mpmath.mpmathify(complex(v)) - w)) for v, w in zip(got.value, wanted, strict=True)]
        size = np.array([float(abs(w)) for w in wanted])
    assert (np.array(errors) <= max(got.error, 1) * np.spacing(size)).all()


def test_complex_functions_tell_the_sides_of_a_branch_cut_apart():
    for op, at in (("sqrt", -4), ("log", -4), ("acos", 2), ("asin", 2), ("acosh", 0.5), ("atanh", 2)):
        above, below = reference(op, "complex128", [complex(at, 0.0), complex(at, -0.0)]).value
        assert above == below.conjugate()
        assert above.imag == -below.imag != 0


def test_poles_of_the_gamma_functions():
    x = [0.0, -0.0, -1.0, -2.0, -100.0, 5e-324, -5e-324]
    assert [str(v) for v in reference("digamma", "float64", x).value] == [
        "-inf",
        "inf",
        "nan",
        "nan",
        "nan",
        "-inf",
        "inf",
    ]
    assert reference("trigamma", "float64", x).value.tolist() == [math.inf] * 7
    lgamma = reference("lgamma", "float64", x).value
    assert lgamma[:5].tolist() == [math.inf] * 5
    assert lgamma[5:] == pytest.approx(744.4400719213812, rel=1e-15)


def test_lgamma_overflows_where_the_function_does():
    x = np.array([2.5563e305, 2.5578342292604147e305, 2.5599e305])
    with mpmath.workdps(40):
        wanted = [float(mpmath.loggamma(mpmath.mpf(each))) for each in x.tolist()]
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(reference("lgamma", "float64", x).value, wanted, rtol=1e-15)
    assert reference("lgamma", "float64", np.array([2.56e305, math.inf])).value.tolist() == [math.inf] * 2


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype):
    low, high = ep.dtype(dtype).range
    bits = 8 * ep.dtype(dtype).itemsize
    values = sorted({low, low + 1, 0, 1, 2, 3, 5, 100, high - 1, high} | ({-1, -2, -7} if low else set()))

    def wrapped(value):
        return (value - low) % 2**bits + low

    definitions = {
        "identity": lambda x: x,
        "relu": lambda x: max(x, 0),
        "abs": abs,
        "negative": lambda x: -x,
        "square": lambda x: x * x,
        "sign": lambda x: (x > 0) - (x < 0),
        "not_equal_zero": lambda x: int(x != 0),
        "bitwise_not": lambda x: ~x,
    }
    for op, function in definitions.items():
        value = reference(op, dtype, values).value
        assert value.dtype == dtype
        assert value.tolist() == [wrapped(function(x)) for x in values], op
    assert set(definitions) == {n for n, r in UNARY_OPS.items() if dtype in r.dtypes and r.out_dtype(dtype) == dtype}


@pytest.mark.parametrize("dtype", NUMBERS)
def test_tests_find_infinities_and_nans(dtype):
    kind = ep.dtype(dtype).kind
    x = [1, 0] if kind in "iu" else [1, 0, math.inf, math.nan]
    if kind == "c":
        x += [complex(0, math.inf), complex(1, math.nan)]
    inf, nan = [False, False, True, False, True, False], [False, False, False, True, False, True]
    array = np.array(x).astype(array_dtype(dtype))
    spec = TensorSpec(dtype, array.shape)
    found = {
        op: FAMILY.reference(ElementwiseUnary.infer(op, spec), {"x": array}).value.tolist()
        for op in ("is_inf", "is_nan", "is_finite", "logical_not")
    }
    assert found["is_inf"] == inf[: len(x)]
    assert found["is_nan"] == nan[: len(x)]
    assert found["is_finite"] == [not (a or b) for a, b in zip(inf, nan, strict=True)][: len(x)]
    assert found["logical_not"] == [value == 0 for value in x]


def test_shrinks_and_bounds_meet_the_values_they_wrote():
    for dtype in ("float16", "float32", "float64"):
        tenth = np.array([0.1, -0.1, 0.2]).astype(dtype)
        assert reference("hard_shrink", dtype, tenth, lambd=0.1).value[:2].tolist() == [0, 0]
        assert reference("soft_shrink", dtype, tenth, alpha=0.1).value[:2].tolist() == [0, 0]
        bounded = reference("hard_tanh", dtype, [-5.0, 5.0], min=-0.7, max=0.1).value
        assert (bounded == bounded.astype(dtype)).all()
        assert reference("threshold", dtype, tenth, threshold=0.1, value=0.3).value[0] == np.array(0.3).astype(dtype)


def test_halves_round_to_even_and_zeros_keep_their_sign():
    x = [0.5, 1.5, 2.5, -0.5, -1.5, -0.2, 4503599627370497.0]
    for op in ("round", "rint"):
        assert (
            repr(reference(op, "float64", x).value.tolist()) == "[0.0, 2.0, 2.0, -0.0, -2.0, -0.0, 4503599627370497.0]"
        )
    assert repr(reference("ceil", "float64", x).value.tolist()[3]) == "-0.0"
    assert repr(reference("trunc", "float64", x).value.tolist()[3:6]) == "[-0.0, -1.0, -0.0]"


def test_parts_come_apart_and_together():
    z = np.array([complex(1, 2), complex(-0.0, math.inf), complex(math.nan, -0.0)], np.complex64)
    real, imag = (reference(op, "complex64", z).value for op in ("real", "imag"))
    assert repr(real.tolist()) == "[1.0, -0.0, nan]"
    assert repr(imag.tolist()) == "[2.0, inf, -0.0]"
    whole = reference("real_grad", "float32", real).value
    assert repr(whole.imag.tolist()) == "[0.0, 0.0, 0.0]"
    assert repr(reference("imag_grad", "float32", imag).value.imag.tolist()) == "[2.0, inf, -0.0]"
    assert repr(reference("conj", "complex64", z).value.imag.tolist()) == "[-2.0, -inf, 0.0]"


def test_bools_are_their_truth():
    odd = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    for op, wanted in (("identity", [0, 1, 1, 1]), ("not_equal_zero", [0, 1, 1, 1]), ("bitwise_not", [1, 0, 0, 0])):
        descriptor = ElementwiseUnary.infer(op, TensorSpec("bool", odd.shape))
        assert FAMILY.reference(descriptor, {"x": odd}).value.tolist() == wanted
