"""Promises of the complex functions beyond the ulps of |z| that conformance tries."""

import cmath
import math
from fractions import Fraction

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, ElementwiseUnary

import ep

INVERSES = {name: getattr(cmath, name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "log", "sqrt")}


@pytest.fixture
def evaluate(device, stream):
    """Return an op of complex128 applied to its operands."""

    def run(op: str, *operands: np.ndarray) -> np.ndarray:
        specs = [ep.TensorSpec.of(operand) for operand in operands]
        out = np.empty(operands[0].shape, np.float64 if op == "abs" else np.complex128)
        if len(operands) == 1:
            ElementwiseUnary(op, x=specs[0], out=ep.TensorSpec.of(out)).on(device)(stream, x=operands[0], out=out)
        else:
            a, b = operands
            BroadcastBinary.infer(op, *specs).on(device)(stream, a=a, b=b, out=out)
        return out

    return run


def test_log_has_a_right_real_part_next_to_the_unit_circle(evaluate):
    rng = np.random.default_rng(0)
    angle = rng.uniform(-math.pi, math.pi, 1000)
    z = np.cos(angle) + 1j * np.sin(angle)
    # log|z| = log1p(|z|^2 - 1) / 2, the argument being exact as a fraction
    above = [Fraction(x) ** 2 + Fraction(y) ** 2 - 1 for x, y in zip(z.real.tolist(), z.imag.tolist(), strict=True)]
    expected = np.log1p([float(value) for value in above]) / 2
    np.testing.assert_allclose(evaluate("log", z).real, expected, rtol=1e-10)


@pytest.mark.parametrize("name", INVERSES)
def test_inverse_keeps_to_the_side_of_its_cut_that_the_sign_of_zero_names(evaluate, name):
    z = np.array([complex(x, y) for x in (-3.0, -0.5, 0.5, 3.0) for y in (0.0, -0.0)])
    z = np.concatenate([z, [complex(z.imag, z.real) for z in z]])
    out = evaluate(name, z)
    expected = np.array([INVERSES[name](value) for value in z.tolist()])
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=1e-15)
    for part in ("real", "imag"):
        of_out, of_expected = getattr(out, part), getattr(expected, part)
        certain = np.abs(of_expected) > 1e-15  # below it, cmath's own rounding decides the sign
        assert (np.signbit(of_out) == np.signbit(of_expected))[certain].all()


@pytest.mark.parametrize("scale", [1e-308, 1e-300, 1e300, 1e308])
def test_moduli_roots_and_quotients_do_not_overflow_on_the_way(evaluate, scale):
    z, other = np.array([complex(1.2, -0.9) * scale]), np.array([complex(-0.7, 1.1) * scale])
    np.testing.assert_allclose(evaluate("abs", z), 1.5 * scale, rtol=1e-15)
    np.testing.assert_allclose(evaluate("sqrt", z), cmath.sqrt(complex(1.2, -0.9)) * math.sqrt(scale), rtol=1e-15)
    np.testing.assert_allclose(evaluate("log", z), cmath.log(complex(1.2, -0.9)) + math.log(scale), rtol=1e-15)
    np.testing.assert_allclose(evaluate("div", z, other), complex(1.2, -0.9) / complex(-0.7, 1.1), rtol=1e-15)


def test_pow_to_a_whole_number_is_as_right_as_products(evaluate):
    a = np.array([complex(1, 2), complex(-3, 0), complex(0, -2), complex(5, -1), complex(1 + 2**-30, 2**-30)])
    for n in (2, 3, 7, 40):
        expected = []
        for base in a.tolist():
            re, im = Fraction(1), Fraction(0)
            x, y = Fraction(base.real), Fraction(base.imag)
            for _ in range(n):
                re, im = re * x - im * y, re * y + im * x
            expected.append(complex(re, im))
        error = np.abs(evaluate("pow", a, np.full_like(a, n)) - expected) / np.abs(expected)
        assert error.max() < 3 * 2.0**-52


def test_pow_of_zero_is_one_zero_or_nan(evaluate):
    out = evaluate("pow", np.zeros(4, np.complex128), np.array([0, 2 - 3j, -1, 1j]))
    assert out[:2].tolist() == [1, 0]
    assert np.isnan(out[2:].real).all()


def test_sigmoid_and_tanh_end_at_their_limits(evaluate):
    z = np.array([complex(x, 1) for x in (-1e300, -800.0, 800.0, 1e300)])
    assert evaluate("sigmoid", z).tolist() == [0, 0, 1, 1]
    assert evaluate("tanh", z).tolist() == [-1, -1, 1, 1]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("op", ["tanh", "sigmoid"])
def test_zeros_of_a_gradient_have_their_signs_whether_products_are_fused_or_not(run_on, isa, op, dtype):
    dy, y = np.zeros(64, dtype), np.zeros(64, dtype)
    dy.imag = -0.0
    spec = ep.TensorSpec.of(dy)
    dx = run_on(isa, BroadcastBinary.infer(f"{op}_backward_with_dy_y", spec, spec), dy, y)
    assert (dx == 0).all()
    assert np.signbit(dx.imag).all()
    assert not np.signbit(dx.real).any()
