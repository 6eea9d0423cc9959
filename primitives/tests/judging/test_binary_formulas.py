"""References of the binary ops against Python's integers and fractions, and gradients against mpmath's derivatives."""

import math
import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from ep_primitives import BINARY_OPS
from ep_primitives.elementwise.op import BITS, INTEGERS, REALS
from ep_primitives.judging.reference import array_dtype

import ep


def reference(op, *arrays, **attributes):
    row = BINARY_OPS[op]
    values = tuple(attributes[attribute.name] for attribute in row.attributes)
    with np.errstate(all="ignore"):
        result = row.reference(*(np.asarray(array) for array in arrays), *row.held("float64", values))
    return result if isinstance(result, tuple) else (np.asarray(result), None)


def value(op, *arrays, **attributes):
    return reference(op, *arrays, **attributes)[0]


def wrapped(number, dtype):
    low, high = ep.dtype(dtype).range
    return (number - low) % (high - low + 1) + low


def quotient(a, b):
    """Return |a| // |b| with the sign of the quotient."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a, b):
    if b >= 0:
        return pow(a, b, 2**64)
    return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)


ON_INTEGERS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda a, b: quotient(a, b) if b else 0,
    "max": max,
    "min": min,
    "pow": power,
    "fmod": lambda a, b: a - b * quotient(a, b) if b else a,
    "floor_div": lambda a, b: a // b if b else 0,
    "trunc_div": lambda a, b: quotient(a, b) if b else 0,
    "floor_mod": lambda a, b: a % b if b else a,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less_than": operator.lt,
    "less_equal": operator.le,
    "greater_than": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}


def shift_left(a, b, bits):
    return a << b if 0 <= b < bits else 0


def shift_right(a, b, bits):
    return a >> b if 0 <= b < bits else (-1 if a < 0 else 0)


SHIFTS = {"shift_left": shift_left, "shift_right": shift_right}


def integer_pairs(dtype):
    """Every pair of an 8-bit type, else random ones of every size with the extremes against each other."""
    low, high = ep.dtype(dtype).range
    if ep.dtype(dtype).itemsize == 1:
        every = range(low, high + 1)
        return [(a, b) for a in every for b in every]
    rng = np.random.default_rng(5)
    ends = [low, low + 1, low + 2, -3, -2, -1, 0, 1, 2, 3, 7, high // 2, high // 2 + 1, high - 1, high]
    ends = [end for end in ends if low <= end <= high]
    bits = 8 * ep.dtype(dtype).itemsize
    sizes = [[int(n) >> int(s) for n, s in zip(*draw, strict=True)] for draw in _draws(rng, bits)]
    # Every combination of signs: every second number of the first column is turned, every second pair of the second.
    numbers = [
        [wrapped(-number if place >> side & 1 else number, dtype) for place, number in enumerate(column)]
        for side, column in enumerate(sizes)
    ]
    return [(a, b) for a in ends for b in ends] + [*zip(*numbers, strict=True)]


def _draws(rng, bits):
    for _ in range(2):
        yield rng.integers(0, 2**bits - 1, 3000, np.uint64, endpoint=True), rng.integers(0, bits, 3000)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ON_INTEGERS)
def test_integers_are_pythons_wrapped(op, dtype):
    exact = ON_INTEGERS[op]
    pairs = integer_pairs(dtype)
    a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    result = value(op, a, b)
    expected = [exact(*pair) for pair in pairs]
    if BINARY_OPS[op].out != "bool":
        assert result.dtype == dtype
        expected = [wrapped(number, dtype) for number in expected]
    assert result.tolist() == expected


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", SHIFTS)
def test_shifts_are_pythons_wherever_the_count_is_one_of_bits(op, dtype):
    bits = 8 * ep.dtype(dtype).itemsize
    low, high = ep.dtype(dtype).range
    counted = [(a, b) for a, _ in integer_pairs(dtype)[:300] for b in range(max(low, -2), bits + 2)]
    pairs = [*integer_pairs(dtype), *counted, *((a, high) for a in (low, -1, 0, 1, high) if a >= low)]
    a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    result = value(op, a, b)
    assert result.dtype == dtype
    assert result.tolist() == [wrapped(SHIFTS[op](*pair, bits), dtype) for pair in pairs]
    numpys = (np.left_shift if op == "shift_left" else np.right_shift)(a, b)
    assert numpys.tolist() == result.tolist()


def test_every_row_on_integers_has_an_exact_counterpart():
    rows = {name for name, row in BINARY_OPS.items() if set(row.dtypes) & set(INTEGERS)}
    assert rows == set(ON_INTEGERS) | set(SHIFTS) | {"is_close", "is_close_equal_nan"}
    assert {name for name, row in BINARY_OPS.items() if row.dtypes == BITS} == {
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    }


@pytest.mark.parametrize("op", sorted({name for name, row in BINARY_OPS.items() if "bool" in row.dtypes}))
def test_bools_are_pythons(op):
    exact = {
        "add": operator.or_,
        "mul": operator.and_,
        **{k: v for k, v in ON_INTEGERS.items() if k not in {"add", "mul"}},
    }[op]
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    assert value(op, a, b).tolist() == [exact(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


def float_pairs():
    """Random pairs, near multiples, and quotients that are half-way between floats but for a fraction."""
    rng = np.random.default_rng(11)
    sizes = rng.uniform(-1070, 1023, (2, 1500))
    far = rng.choice((-1, 1), (2, 1500)) * np.exp2(sizes) * rng.uniform(0.5, 1, (2, 1500))
    b = rng.uniform(-8, 8, 1500)
    near = b * np.rint(rng.uniform(-1e6, 1e6, 1500))
    sides = [near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)]
    ties = [(n, m) for n in range(2**53 - 9, 2**53 + 200) for m in (9, 11, 13, 15, 21, 27)]
    wide = [(n * m + r, m) for n, m in ties for r in range(m) if float(n * m + r) == n * m + r]
    signs = [(side * a, other * m) for a, m in wide for side in (1, -1) for other in (1, -1)]
    tied_a, tied_b = np.array(signs, np.float64).T
    scale = np.exp2(rng.integers(-900, 900, tied_a.size).astype(np.float64))
    return np.concatenate([far[0], *sides, tied_a * scale]), np.concatenate([far[1], b, b, b, tied_b * scale])


def nearest(number, dtype):
    """Return the float nearest to a Fraction, ties to even."""
    if number == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(number.numerator)) - math.log2(number.denominator))
    digits = ep.dtype(dtype).fraction + 1
    for guess in (exponent - 1, exponent, exponent + 1):
        if Fraction(2) ** guess <= abs(number) < Fraction(2) ** (guess + 1):
            unit = Fraction(2) ** (guess + 1 - digits)
    rounded = round(number / unit) * unit
    return float(rounded) if abs(rounded) <= float(np.finfo(dtype).max) else math.inf if number > 0 else -math.inf


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ["floor_div", "trunc_div", "floor_mod", "fmod"])
def test_float_quotients_are_of_the_exact_quotient(op, dtype):
    a, b = float_pairs()
    with np.errstate(all="ignore"):
        a, b = (column.astype(dtype).astype(np.float64) for column in (a, b))
    fine = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    a, b = a[fine], b[fine]
    with np.errstate(all="ignore"):
        result = value(op, a, b).astype(dtype).astype(np.float64)
    whole = {"floor_div": math.floor, "trunc_div": math.trunc, "floor_mod": math.floor, "fmod": math.trunc}[op]
    for x, y, got in zip(a.tolist(), b.tolist(), result.tolist(), strict=True):
        exact = Fraction(whole(Fraction(x) / Fraction(y)))
        exact = exact if op.endswith("_div") else Fraction(x) - Fraction(y) * exact
        assert got == nearest(exact, dtype), (x, y, got)
    if op == "floor_mod":
        assert (np.signbit(result) == np.signbit(b)).all()


def test_rounded_quotients_would_not_do():
    a, b = float_pairs()
    with np.errstate(all="ignore"):
        assert (value("floor_div", a, b) != np.floor(a / b)).sum() > 100


@pytest.mark.parametrize("op", ["max", "min"])
def test_nan_and_zeros_are_symmetric(op):
    numbers = np.array([math.nan, -math.inf, -1.0, -0.0, 0.0, 1.0, math.inf])
    a, b = np.meshgrid(numbers, numbers)
    result = value(op, a, b)
    assert (np.isnan(result) == (np.isnan(a) | np.isnan(b))).all()
    turned = value(op, b, a)
    assert [repr(x) for x in result.ravel().tolist()] == [repr(x) for x in turned.ravel().tolist()]
    assert math.copysign(1, value(op, 0.0, -0.0)) == (1 if op == "max" else -1)


@pytest.mark.parametrize("dtype", REALS)
def test_closeness_is_evaluated_in_float64_step_by_step(dtype):
    rng = np.random.default_rng(2)
    kind = ep.dtype(dtype).kind
    low, high = (-1000, 1000) if ep.dtype(dtype).kind == "f" else ep.dtype(dtype).range
    draws = rng.uniform(low / 2, high / 2, (2, 500))
    a, b = (draws[0].astype(array_dtype(dtype)), draws[1].astype(array_dtype(dtype)))
    b[::2] = a[::2]
    wide = (np.float64, np.float64) if kind == "f" else (a.dtype, b.dtype)
    a, b = a.astype(wide[0]), b.astype(wide[1])
    for atol, rtol in ((0.0, 0.0), (0.5, 0.25), (3.0, 0.0), (0.0, 1e-3)):
        expected = [
            abs(float(x) - float(y)) <= atol + rtol * abs(float(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        for op in ("is_close", "is_close_equal_nan"):
            assert value(op, a, b, atol=atol, rtol=rtol).tolist() == expected


def test_infinities_and_nan_are_close_to_their_like():
    numbers = np.array([math.nan, math.inf, -math.inf, 1.0])
    a, b = np.meshgrid(numbers, numbers)
    same = a == b
    assert (value("is_close", a, b, atol=1.0, rtol=1.0) == same).all()
    assert (value("is_close_equal_nan", a, b, atol=1.0, rtol=1.0) == (same | (np.isnan(a) & np.isnan(b)))).all()
    # The difference overflows, and so does the tolerance.
    assert not value("is_close", 1e308, -1e308, atol=0.0, rtol=1e308)


def test_a_number_as_exponent_changes_no_power():
    bases = np.array([-math.inf, -0.0, 4.0])
    for shape in ((3,), (1,), ()):
        assert [repr(x) for x in value("pow", bases, np.full(shape, 0.5)).tolist()] == ["inf", "0.0", "2.0"]


def test_complex_powers_are_exponentials_of_logarithms():
    rng = np.random.default_rng(4)
    a, b = (rng.uniform(-4, 4, 60) + 1j * rng.uniform(-4, 4, 60) for _ in range(2))
    result, scale = reference("pow", a, b)
    expected = np.array([complex(mpmath.power(mpmath.mpc(x), mpmath.mpc(y))) for x, y in zip(a, b, strict=True)])
    assert (np.abs(result - expected) <= 2e-16 * 4 * scale).all()
    assert value("pow", np.array([0j, 0j, 2 + 1j]), np.array([0j, 2 + 3j, 0j])).tolist() == [1, 0, 1]
    assert np.isnan(value("pow", np.array([0j]), np.array([-1 + 0j]))[0])


def test_the_logarithm_of_a_sum_of_powers_is_mpmaths():
    rng = np.random.default_rng(6)
    a = np.concatenate([rng.uniform(-50, 50, 200), np.full(40, 1e-30), np.log(-np.expm1(-rng.uniform(0.01, 5, 60)))])
    b = np.concatenate([rng.uniform(-50, 50, 200), -rng.uniform(0, 700, 40), -rng.uniform(0.01, 5, 60)])
    with mpmath.workprec(200):
        expected = [
            float(mpmath.log(mpmath.exp(x) + mpmath.exp(y))) for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
    result, scale = reference("logaddexp", a, b)
    assert (np.abs(result - expected) <= 2.0**-52 * scale).all()
    assert (np.abs(result) <= scale * (1 + 2.0**-51)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_neighbours_are_those_of_the_operands_own_type(dtype):
    into = array_dtype(dtype)
    numbers = np.array([0.0, 1.0, -1.0, 1.5, 2.0, 100.0, np.finfo(np.float32).tiny]).astype(into)
    bits = numbers.view(f"u{into.itemsize}")
    above = value("nextafter", numbers, np.full_like(numbers, np.inf)).astype(into)
    is_below = numbers < 0
    expected = np.where(is_below, bits - bits.dtype.type(1), bits + bits.dtype.type(1))
    assert above.view(bits.dtype).tolist() == expected.astype(bits.dtype).tolist()
    zeros = np.array([0.0, -0.0]).astype(into)
    assert np.signbit(value("nextafter", zeros, zeros[::-1].copy())).tolist() == [True, False]


def test_zeta_is_mpmaths():
    rng = np.random.default_rng(8)
    x, q = rng.uniform(1.01, 20, 80), rng.uniform(0.02, 20, 80)
    expected = [float(mpmath.zeta(s, start)) for s, start in zip(x.tolist(), q.tolist(), strict=True)]
    assert value("zeta", x, q) == pytest.approx(expected, rel=1e-14)
