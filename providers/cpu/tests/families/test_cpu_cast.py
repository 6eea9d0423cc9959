"""Conversions into narrow floats round once, whatever they come from, on every instruction set."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import Cast

import ep

NARROW = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float16": np.float16,
}
BEYOND = {"float8_e4m3fn": np.nan}


@pytest.fixture
def cast(isa, run_on):
    def run(x, source, target):
        return run_on(isa, Cast(x=ep.TensorSpec(source, x.shape), out=ep.TensorSpec(target, x.shape)), x)

    return run


def all_of(dtype):
    bits = 8 * np.dtype(dtype).itemsize
    return np.arange(2**bits, dtype=np.uint64).astype(f"uint{bits}").view(dtype)


def positive(dtype):
    """Return every finite value of a narrow float from 0 on, ascending."""
    values = all_of(dtype)[: 2 ** (8 * np.dtype(dtype).itemsize - 1)]
    with np.errstate(invalid="ignore"):
        return values[np.isfinite(values.astype(np.float64))]


def same(a, b):
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


@pytest.mark.parametrize("name", NARROW)
def test_narrow_float_widens_every_pattern(cast, name):
    x = all_of(NARROW[name])
    for wide in ("float32", "float64"):
        with np.errstate(invalid="ignore"):
            expected = x.astype(wide)
        assert same(cast(x, name, wide), expected).all()


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("name", NARROW)
def test_narrow_float_rounds_once_to_even(cast, name, wide):
    narrow = positive(NARROW[name])
    exact = narrow.astype(wide)
    ties = exact[:-1] + (exact[1:] - exact[:-1]) / 2
    even = np.where(narrow[1:].view(f"uint{8 * narrow.itemsize}") % 2 == 0, exact[1:], exact[:-1])
    x = np.concatenate([exact, ties, np.nextafter(ties, 0, dtype=wide), np.nextafter(ties, np.inf, dtype=wide)])
    expected = np.concatenate([exact, even, exact[:-1], exact[1:]])
    for sign in (1, -1):
        assert (cast((sign * x).astype(wide), wide, name).astype(wide) == sign * expected).all()


@pytest.mark.parametrize("name", NARROW)
def test_narrow_float_ends_where_its_format_does(cast, name):
    exact = positive(NARROW[name]).astype(np.float64)
    last, step = exact[-1], exact[-1] - exact[-2]
    beyond = BEYOND.get(name, np.inf)
    # E4M3FN's greatest number is even, so that the tie above it comes back; the others' are odd.
    tie = last if name == "float8_e4m3fn" else beyond
    x = np.array([last + step / 2, np.nextafter(last + step / 2, np.inf), 1e300, np.inf, -np.inf, np.nan])
    expected = np.array([tie, beyond, beyond, beyond, -beyond, np.nan])
    assert same(cast(x, "float64", name).astype(np.float64), expected)[~np.isnan(expected)].all()
    assert np.isnan(cast(x, "float64", name).astype(np.float64)[np.isnan(expected)]).all()


@pytest.mark.parametrize("source", ["int32", "int64", "uint32", "uint64"])
def test_wide_integers_round_once_to_bfloat16(cast, source):
    exact = positive(ml_dtypes.bfloat16).astype(np.float64)
    top = np.iinfo(source).max
    whole = [int(value) for value in exact if 2**9 <= value < top]
    pairs = list(itertools.pairwise(whole))
    ties = [(low + high) // 2 for low, high in pairs]
    x = np.array([tie + by for tie in ties for by in (-1, 1)], source)
    expected = np.array([value for pair in pairs for value in pair], np.float64)
    assert (cast(x, source, "bfloat16").astype(np.float64) == expected).all()
    if source.startswith("int"):
        assert (cast(-x, source, "bfloat16").astype(np.float64) == -expected).all()


@pytest.mark.parametrize("source", ["int64", "uint64"])
@pytest.mark.parametrize("target", ["float32", "float64"])
def test_one_integer_of_more_than_32_bits_changes_none_beside_it(cast, source, target):
    info, edge = np.iinfo(source), 2**31
    few = [value for value in (0, 1, -1, 2**24 + 1, 1 - edge, -edge, edge - 1) if value >= info.min]
    wide = [edge, edge + 1, 2**32, 2**32 + 2**8 + 1, 2**53 + 1, info.max, info.min, *(-edge - 1,) * (info.min < 0)]
    for beyond in (None, *wide):
        x = np.resize(np.array(few, source), 1100)
        if beyond is not None:
            x[700] = beyond
        assert (cast(x, source, target) == x.astype(target)).all(), beyond


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_floats_saturate_in_integers(cast, source, target):
    info, kind = np.iinfo(target), np.dtype(source).type
    high = kind(2.0 ** (info.bits - (info.min < 0)))
    inside = np.nextafter(high, kind(0))
    x = np.array([np.nan, np.inf, -np.inf, high, inside, info.min, np.nextafter(kind(info.min), kind(-np.inf)), -0.75])
    expected = [0, info.max, info.min, info.max, min(int(inside), info.max), info.min, info.min, 0]
    assert cast(x.astype(source), source, target).tolist() == expected


def test_complex_casts_take_and_make_real_parts(cast):
    z = np.array([1.5 - 2j, -7 + 0j, 0 + 3j, 0j] * 300, np.complex64)
    assert (cast(z, "complex64", "int16") == z.real.astype(np.int16)).all()
    assert (cast(z, "complex64", "bool") == (z != 0)).all()
    assert (cast(z, "complex64", "complex128") == z).all()
    x = np.arange(1200, dtype=np.float16)
    made = cast(x, "float16", "complex128")
    assert (made == x).all()
    assert not np.signbit(made.imag).any()
