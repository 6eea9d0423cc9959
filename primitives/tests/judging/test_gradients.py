"""Gradients against mpmath's derivatives of the forward functions."""

import math

import mpmath
import numpy as np
import pytest
from ep_primitives import BINARY_OPS, Conditioned

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def reference(op, *arrays, **attributes):
    row = BINARY_OPS[op]
    values = tuple(attributes[attribute.name] for attribute in row.attributes)
    with np.errstate(all="ignore"):
        result = row.reference(*(np.asarray(array) for array in arrays), *row.held("float64", values))
    return result if isinstance(result, tuple) else (np.asarray(result), None)


def value(op, *arrays, **attributes):
    return reference(op, *arrays, **attributes)[0]


def selu(x):
    return SELU_SCALE * (x if x > 0 else SELU_ALPHA * mpmath.expm1(x))


def gelu(x):
    return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def fast_gelu(x):
    return x / 2 * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)))


LINE, POSITIVE, INSIDE = (-6.0, 6.0), (0.05, 6.0), (-0.95, 0.95)
BELOW, ABOVE = (-0.9, 8.0), (1.05, 8.0)
FORWARD = {
    "identity": (lambda x: x, LINE),
    "elu": (lambda x: x if x > 0 else 0.75 * mpmath.expm1(x), LINE),
    "celu": (lambda x: x if x > 0 else 0.75 * mpmath.expm1(x / 0.75), LINE),
    "relu": (lambda x: max(x, 0), LINE),
    "gelu": (gelu, LINE),
    "hard_swish": (lambda x: x * min(max(x + 3, 0), 6) / 6, LINE),
    "hard_sigmoid": (lambda x: min(max(x / 6 + 0.5, 0), 1), LINE),
    "hard_shrink": (lambda x: x if abs(x) > 0.5 else mpmath.mpf(0), LINE),
    "hard_tanh": (lambda x: min(max(x, -1), 1), LINE),
    "leaky_relu": (lambda x: x if x > 0 else 0.75 * x, LINE),
    "mish": (lambda x: x * mpmath.tanh(mpmath.log(1 + mpmath.exp(x))), LINE),
    "selu": (selu, LINE),
    "silu": (lambda x: x * sigmoid(x), LINE),
    "soft_shrink": (lambda x: max(abs(x) - 0.5, 0) * mpmath.sign(x), LINE),
    "soft_sign": (lambda x: x / (1 + abs(x)), LINE),
    "soft_plus": (lambda x: mpmath.log1p(mpmath.exp(x)), LINE),
    "tanh": (mpmath.tanh, LINE),
    "threshold": (lambda x: x if x > 0.5 else mpmath.mpf(7), LINE),
    "fast_gelu": (fast_gelu, LINE),
    "quick_gelu": (lambda x: x * sigmoid(mpmath.mpf(1.702) * x), LINE),
    "square_relu": (lambda x: max(x, 0) ** 2, LINE),
    "abs": (abs, LINE),
    "acos": (mpmath.acos, INSIDE),
    "acosh": (mpmath.acosh, ABOVE),
    "asin": (mpmath.asin, INSIDE),
    "asinh": (mpmath.asinh, LINE),
    "atan": (mpmath.atan, LINE),
    "atanh": (mpmath.atanh, INSIDE),
    "cos": (mpmath.cos, LINE),
    "cosh": (mpmath.cosh, LINE),
    "erf": (mpmath.erf, LINE),
    "erfc": (mpmath.erfc, LINE),
    "exp": (mpmath.exp, LINE),
    "exp2": (lambda x: mpmath.power(2, x), LINE),
    "expm1": (mpmath.expm1, LINE),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), LINE),
    "digamma": (mpmath.digamma, LINE),
    "log": (mpmath.log, POSITIVE),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), POSITIVE),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), POSITIVE),
    "log1p": (lambda x: mpmath.log(1 + x), BELOW),
    "log_sigmoid": (lambda x: -mpmath.log1p(mpmath.exp(-x)), LINE),
    "reciprocal": (lambda x: 1 / x, LINE),
    "reciprocal_no_nan": (lambda x: 1 / x, LINE),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), POSITIVE),
    "sigmoid": (sigmoid, LINE),
    "sin": (mpmath.sin, LINE),
    "sinh": (mpmath.sinh, LINE),
    "sqrt": (mpmath.sqrt, POSITIVE),
    "square": (lambda x: x * x, LINE),
    "tan": (mpmath.tan, LINE),
}
BACKWARD = [name for name in BINARY_OPS if "_backward_" in name]
ATTRIBUTES = {
    name: {attribute.name: attribute.samples[0] for attribute in row.attributes} for name, row in BINARY_OPS.items()
}


def forward(op):
    return FORWARD[op[: op.index("_backward_")]]


def is_of_y(op):
    return op.endswith("_y")


@pytest.mark.parametrize("op", BACKWARD)
def test_gradients_are_derivatives(op):
    function, (low, high) = forward(op)
    xs = np.random.default_rng(len(op)).uniform(low, high, 60)
    with mpmath.workdps(60):
        seconds = [mpmath.mpf(x) for x in xs]
        slopes = [mpmath.diff(function, x) for x in seconds]
        given = [function(x) for x in seconds] if is_of_y(op) else seconds
        expected = np.array([float(3 * slope) for slope in slopes])
    result, scale = reference(op, np.full(60, 3.0), np.array([float(x) for x in given]), **ATTRIBUTES[op])
    error = np.abs(result - expected)
    # A y that was rounded moves a slope in y by its own error.
    allowed = 1e-14 * (np.abs(expected) if scale is None else scale) + (2e-15 if is_of_y(op) else 0)
    assert (error <= allowed).all(), xs[error.argmax()]


@pytest.mark.parametrize("op", [name for name in BACKWARD if "complex128" in BINARY_OPS[name].dtypes])
def test_complex_gradients_are_conjugates_of_the_derivative(op):
    function, _ = forward(op)
    rng = np.random.default_rng(len(op))
    zs = rng.uniform(-3, 3, 40) + 1j * rng.uniform(-3, 3, 40)
    dy = rng.uniform(-2, 2, 40) + 1j * rng.uniform(-2, 2, 40)
    with mpmath.workdps(60):
        points = [mpmath.mpc(z) for z in zs]
        slopes = [mpmath.diff(function, z) for z in points]
        given = [function(z) for z in points] if is_of_y(op) else points
        expected = np.array([complex(mpmath.mpc(d) * mpmath.conj(s)) for d, s in zip(dy, slopes, strict=True)])
    result = value(op, dy, np.array([complex(z) for z in given]))
    assert result.dtype == np.complex128
    assert np.abs(result - expected) / np.abs(expected) == pytest.approx(np.zeros(40), abs=3e-14)


@pytest.mark.parametrize(
    ("op", "cut"),
    [
        ("asin", 2 + 0j),
        ("acos", -2 + 0j),
        ("acosh", -2 + 0j),
        ("asinh", 2j),
        ("asinh", -2j),
        ("sqrt", -4 + 0j),
        ("rsqrt", -4 + 0j),
    ],
)
def test_a_zeros_sign_tells_the_side_of_a_branch_cut(op, cut):
    name = f"{op}_backward_with_dy_x"
    for sign in (1.0, -1.0):
        on, step = (cut, 1e-9 * sign * 1j) if cut.imag == 0 else (cut, 1e-9 * sign)
        on = complex(on.real, math.copysign(0, sign)) if cut.imag == 0 else complex(math.copysign(0, sign), on.imag)
        there, beside = (value(name, np.array([1 + 0j]), np.array([z]))[0] for z in (on, cut + step))
        assert there == pytest.approx(beside, rel=1e-6)


def test_scales_are_never_below_the_value():
    rng = np.random.default_rng(0)
    for op in BACKWARD:
        if not isinstance(BINARY_OPS[op].accuracy_of("float64"), Conditioned):
            continue
        result, scale = reference(op, rng.uniform(-9, 9, 999), rng.uniform(-9, 9, 999), **ATTRIBUTES[op])
        assert (scale >= np.abs(result) * (1 - 1e-12)).all(), op


# The slopes that are powers of x far out; mpmath has no overflow.
POWERS = {
    "acosh": lambda x: 1 / mpmath.sqrt(x * x - 1) if x > 1 else mpmath.nan,
    "asinh": lambda x: 1 / mpmath.sqrt(1 + x * x),
    "atan": lambda x: 1 / (1 + x * x),
    "log": lambda x: 1 / x,
    "log10": lambda x: 1 / (x * mpmath.log(10)),
    "log1p": lambda x: 1 / (1 + x),
    "log2": lambda x: 1 / (x * mpmath.log(2)),
    "reciprocal": lambda x: -1 / (x * x),
    "reciprocal_no_nan": lambda x: -1 / (x * x),
    "rsqrt": lambda x: -1 / (2 * x * mpmath.sqrt(x)) if x > 0 else mpmath.nan,
    "soft_sign": lambda x: 1 / (1 + abs(x)) ** 2,
    "sqrt": lambda x: 1 / (2 * mpmath.sqrt(x)) if x > 0 else mpmath.nan,
    "square": lambda x: 2 * x,
}
XS = np.array([sign * 1.5 * 2.0**power for power in range(-1000, 1001, 125) for sign in (1, -1)])


@pytest.mark.parametrize("op", POWERS)
def test_slopes_neither_overflow_nor_vanish_on_the_way(op):
    result = value(f"{op}_backward_with_dy_x", np.ones_like(XS), XS)
    with mpmath.workdps(700):
        expected = [float(POWERS[op](mpmath.mpf(x))) for x in XS]
    assert result == pytest.approx(expected, rel=1e-14, abs=0, nan_ok=True)


def test_results_just_below_the_overflow_are_finite():
    x = 2.5334287410011635e-205
    expected = float(16 * mpmath.mpf(x) ** mpmath.mpf("-1.5"))
    assert value("rsqrt_backward_with_dy_x", -32.0, np.array([x])) == pytest.approx([expected], rel=1e-14)


@pytest.mark.parametrize("op", [op for op in BACKWARD if BINARY_OPS[op].domain[1].is_open])
def test_slopes_of_open_domains_are_numbers_far_out(op):
    if op[: op.index("_backward_")] not in POWERS:
        assert not np.isnan(value(op, np.ones_like(XS), XS, **ATTRIBUTES[op])).any()


def test_powers_gradients_are_derivatives():
    rng = np.random.default_rng(9)
    xs, dy = rng.uniform(0.1, 9, 50), rng.uniform(-3, 3, 50)
    for p in (2.0, 0.5, -1.5, 3.0, 1.0):
        expected = [float(d * mpmath.diff(lambda x, p=p: x**p, x)) for x, d in zip(xs, dy, strict=True)]
        assert value("scalar_base_power_grad", xs, dy, exponent=p) == pytest.approx(expected, rel=1e-13)
    for base in (2.0, 0.5, 10.0):
        expected = [
            float(d * mpmath.diff(lambda x, b=base: mpmath.mpf(b) ** x, x)) for x, d in zip(xs, dy, strict=True)
        ]
        assert value("scalar_exp_power_grad", xs, dy, base=base) == pytest.approx(expected, rel=1e-13)
    assert value("scalar_base_power_grad", np.array([0.0, 2.0]), np.array([5.0, 5.0]), exponent=0.0).tolist() == [0, 0]
