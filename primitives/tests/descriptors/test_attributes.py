import math

import mpmath
import numpy as np
import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS, BroadcastBinary, ElementwiseUnary
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinaryFamily
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnaryFamily
from ep_primitives.judging.reference import widened

from ep import TensorSpec

ROWS = {name: row for name, row in {**UNARY_OPS, **BINARY_OPS}.items() if row.attributes}
FAMILIES = (ElementwiseUnaryFamily(), BroadcastBinaryFamily())
F32 = TensorSpec("float32", (4,))
INF = math.inf


def described(op, dtype="float32", **attributes):
    spec = TensorSpec(dtype, (4,))
    if op in UNARY_OPS:
        return ElementwiseUnary.infer(op, spec, **attributes)
    return BroadcastBinary.infer(op, spec, spec, **attributes)


def reference(op, dtype, attributes, *columns):
    row = ROWS[op]
    with np.errstate(all="ignore"):
        result = row.reference(
            *(widened(dtype, np.array(column, dtype)) for column in columns), *row.held(dtype, attributes)
        )
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize(
    ("op", "given", "needed"),
    [
        ("celu", {"alpha": 0}, "celu: alpha is 0, needs a finite number above 0 within the compute type of float32"),
        ("celu", {"alpha": -1.0}, "above 0"),
        ("celu", {"alpha": 1e-60}, "celu: alpha is 1e-60, needs a finite number above 0"),
        ("celu", {"alpha": INF}, "celu: alpha is inf, needs a finite number"),
        ("celu_backward_with_dy_y", {"alpha": 0.0}, "above 0"),
        ("elu", {"alpha": -INF}, "needs a finite number within"),
        ("leaky_relu", {"alpha": math.nan}, "leaky_relu: alpha is nan, needs a finite number"),
        (
            "hard_shrink",
            {"lambd": -0.5},
            "hard_shrink: lambd is -0.5, needs a finite number of at least 0 within float32",
        ),
        ("soft_shrink", {"alpha": -0.5}, "at least 0"),
        ("soft_plus", {"beta": 0.0, "threshold": 20.0}, "soft_plus: beta is 0.0, needs a finite number other than 0"),
        (
            "hard_tanh",
            {"min": math.nan, "max": 1.0},
            "hard_tanh: min is nan, needs a finite number within float32, or an infinity",
        ),
        (
            "hard_tanh",
            {"min": 1e300, "max": INF},
            "hard_tanh: min is 1e[+]300, needs a finite number within float32, or an inf",
        ),
        (
            "hard_tanh",
            {"min": 2.0, "max": 1.0},
            "hard_tanh: min and max are 2 and 1, needs them in ascending order; swap them",
        ),
        ("hard_tanh_backward_with_dy_y", {"min": 2.0, "max": 1.0}, "ascending"),
        ("threshold", {"threshold": math.nan, "value": 0.0}, "threshold: threshold is nan"),
        ("scalar_exp_power_grad", {"base": 0.0}, "scalar_exp_power_grad: base is 0.0, needs a finite number above 0"),
        (
            "is_close",
            {"atol": -1e-8, "rtol": 0.0},
            "is_close: atol is -1e-08, needs a finite number of at least 0 within float64",
        ),
        ("is_close", {"atol": 0.0, "rtol": INF}, "is_close: rtol is inf"),
    ],
)
def test_attributes_outside_of_a_rows_domain_are_refused(op, given, needed):
    with pytest.raises(ValueError, match=needed):
        described(op, **given)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_hard_tanh_and_threshold_take_infinities(dtype):
    x = [-INF, -70000.0 if dtype != "float16" else -7.0, 2.0, INF, math.nan]
    assert described("hard_tanh", dtype, min=-INF, max=INF).attributes == (-INF, INF)
    np.testing.assert_array_equal(reference("hard_tanh", dtype, (-INF, INF), x), np.array(x, dtype))
    np.testing.assert_array_equal(reference("hard_tanh", dtype, (1.0, INF), x), [1, 1, 2, INF, math.nan])
    assert described("threshold", dtype, threshold=INF, value=-INF).attributes == (INF, -INF)
    np.testing.assert_array_equal(reference("threshold", dtype, (INF, -INF), x), [-INF] * 4 + [math.nan])
    assert described("threshold_backward_with_dy_x", dtype, threshold=-INF)
    assert described("hard_tanh_backward_with_dy_y", dtype, min=-INF, max=INF)


@pytest.mark.parametrize("op", ROWS)
def test_all_that_is_drawn_is_legal_and_extremes_are_among_it(op):
    row = ROWS[op]
    rng = np.random.default_rng(7)
    for dtype in row.dtypes:
        for attribute in row.attributes:
            ends = [*attribute.ends(dtype)]
            assert len(ends) >= 4
            for number in (*ends, *(attribute.drawn(rng, dtype) for _ in range(40))):
                held = float(attribute.held(dtype, number))
                assert attribute.legal.holds(held)
                assert held == number or math.isinf(number)


@pytest.mark.parametrize("op", ROWS)
def test_cases_of_a_row_are_tried_with_many_attributes(op):
    """The cases' names do not tell the attributes, samples keep the usual ones, and two runs try the same."""
    family = FAMILIES[op in BINARY_OPS]
    signature = next(each for each in family.signatures() if each.op == op and each.inputs[0] == "float32")
    tried = {
        case.descriptor.attributes
        for layout in family.layouts
        for case in family.cases_of(signature, layout)
        if case.profile != "large"
    }
    usual = {tuple(attribute.samples[number] for attribute in ROWS[op].attributes) for number in range(3)}
    others = [values for values in tried if values not in usual]
    assert len(others) >= 5
    size = max(abs(value) if value and math.isfinite(value) else 1 for values in others for value in values)
    least = min(abs(value) if value and math.isfinite(value) else 1 for values in others for value in values)
    assert size / least > 2.0**60 or op.startswith("scalar")
    assert family.sample(next(cell for cell in family.cells() if cell.op == op)).attributes in usual


def exact_celu(x, alpha):
    return alpha * mpmath.expm1(x / alpha)


def exact_soft_plus(x, beta, _):
    return mpmath.log1p(mpmath.exp(beta * x)) / beta


def exact_base_slope(x, dy, p):
    return dy * p * x ** (p - 1)


def exact_exponent_slope(x, dy, base):
    return dy * base**x * mpmath.log(base)


def exact_elu_slope(dy, x, alpha):
    return dy * alpha * mpmath.exp(x)


def exact_celu_slope(dy, y, alpha):
    return dy * (y / alpha + 1)


HARD = [
    ("celu", exact_celu, (39.0,), [(-1e-38,), (-1e-3,), (-200.0,)]),
    ("celu", exact_celu, (1e6,), [(-1e-38,), (-1e-44,), (-3.0,)]),
    ("celu", exact_celu, (3e38,), [(-1e-45,), (-1.0,), (-3e38,)]),
    ("soft_plus", exact_soft_plus, (0.01, 20.0), [(-9500.0,), (-10000.0,), (3.0,)]),
    ("soft_plus", exact_soft_plus, (0.1, 20.0), [(-700.3,), (-33.3,)]),
    ("soft_plus", exact_soft_plus, (-3e30, 1.0), [(2e-29,), (1e-31,)]),
    ("scalar_base_power_grad", exact_base_slope, (14.0,), [(1000.0, 1e-20), (1e-5, 1e38), (3e4, 3e-38)]),
    ("scalar_base_power_grad", exact_base_slope, (1e-30,), [(1e-44, 1e-5), (1e38, 1e38)]),
    ("scalar_exp_power_grad", exact_exponent_slope, (15.0,), [(33.0, 1e-3), (-40.0, 1e20), (60.0, 1e-44)]),
    ("scalar_exp_power_grad", exact_exponent_slope, (1e-45,), [(1.5, 1e38), (-1.0, 1e-10)]),
    ("elu_backward_with_dy_x", exact_elu_slope, (3e38,), [(90.0, -60.0), (1e-3, -79.0)]),
    ("elu_backward_with_dy_x", exact_elu_slope, (1e-38,), [(99.0, -1.0), (99.0, -9.0)]),
    ("celu_backward_with_dy_y", exact_celu_slope, (1e-38,), [(1e-3, -4.0)]),
]


@pytest.mark.parametrize(("op", "exact", "attributes", "points"), HARD)
def test_references_hold_for_hard_attributes(op, exact, attributes, points):
    for dtype in ("float32", "float64"):
        held = [mpmath.mpf(float(value)) for value in ROWS[op].held(dtype, attributes)]
        columns = [np.array(column, dtype) for column in zip(*points, strict=True)]
        found = reference(op, dtype, attributes, *columns)
        for place, value in enumerate(found):
            with mpmath.workprec(300):
                wanted = float(exact(*(mpmath.mpf(float(column[place])) for column in columns), *held))
            assert abs(value - wanted) <= (ROWS[op].error + 1) * np.spacing(abs(wanted)), (dtype, points[place])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("op", ["is_close", "is_close_equal_nan"])
def test_large_integers_are_close_without_tolerance_only_if_equal(op, dtype):
    a = np.array([2**53 + 1, 2**53, 2**63 - 1, 0, 2**62], dtype)
    b = np.array([2**53, 2**53, 2**63 - 2, 2**63 - 1, 2**62 + 255], dtype)
    assert reference(op, dtype, (0.0, 0.0), a, b).tolist() == [False, True, False, False, False]
    assert reference(op, dtype, (1.0, 0.0), a, b).tolist() == [True, True, True, False, False]
    assert reference(op, dtype, (255.0, 0.0), b, a).tolist() == [True, True, True, False, True]
    if dtype == "int64":
        ends = np.array([-(2**63), 2**63 - 1], dtype)
        assert reference(op, dtype, (2.0**63, 0.0), ends, ends[::-1]).tolist() == [False, False]
        assert reference(op, dtype, (2.0**64, 0.0), ends, ends[::-1]).tolist() == [True, True]
