"""Input data that can show a fault: values of every magnitude, edges, ties and the ends of types and domains."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

import ep
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.judging.reference import Array, array_dtype, limits

__all__ = [
    "EXHAUSTIBLE_BITS",
    "TRUE_BYTES",
    "any_bits",
    "designed",
    "exhaustive",
    "listed",
    "numbers",
    "ordinary",
    "random",
]

# Halves and ties for floor and conversions, ends of the integer and float16 ranges and their neighbours, the
# neighbourhood of 1 for log, the root and the minimum of gelu's derivative.
# fmt: off
_EDGES: Final = (
    0.5, 1.5, 2.5, 0.1, 1 / 3, 3.0, 7.0, 10.0, 100.0, math.pi, 0.25, 0.4999999701976776, 0.75,
    0.7517915247, 1.4142135624, 0.625, 0.84375, 1.25, 0.9999, 1.0001, 0.999, 1.001,
    127.0, 128.0, 255.0, 256.0, 2048.0, 2049.0, 2051.0, 32767.0, 32768.0, 65504.0, 65519.0, 65520.0, 65536.0,
    8388607.5, 8388608.0, 16777215.0, 16777216.0, 16777217.0, 33554435.0,
    2147483520.0, 2147483647.0, 2147483648.0, 2147483904.0, 4294967296.0, 1e10,
    2**-14 - 2**-25, 2**-25 + 2**-60,
    2**-150, 3 * 2**-150, 1e-3, 1e-5, 1e-8, 1e-20, 1e20,
)
# fmt: on
# Next to the ties of every narrower type, nearer than a type between them resolves: rounding twice goes wrong.
_TIES: Final = tuple(
    1 + odd * 2.0**-bits + side * 2.0**-far
    for bits, far in ((24, 50), (11, 30), (8, 30), (8, 40), (4, 30), (4, 40), (3, 30), (3, 40))
    for odd, side in ((1, 1), (3, -1))
)
_INTEGERS: Final = (0, 1, -1, 2, -2, 3, 7, -7, 10, 255, 256, -256, 46340, 46341, 65535, 65536, 2**24, 2**24 + 1, 2**30)
_LONG_TIES: Final = tuple(
    sign * (odd * 2**k + 2 ** (k + bits) + side)
    for k, bits in ((16, 8), (32, 8), (5, 24), (30, 24), (38, 24), (8, 53))
    for odd, side in ((1, 1), (3, -1), (1, 0))
    for sign in (1, -1)
)
"""The same of integers: ties of bfloat16, float32 and float64 and their neighbours."""
TRUE_BYTES: Final = (1, 1, 2, 128, 255)
"""Bytes of a bool that are true."""

EXHAUSTIBLE_BITS: Final = 16
"""Element types of so few bits are tried with all their values."""

# Shares of random data: dense in the domain, of any magnitude, and the rest designed.
_NEAR: Final = 0.5
_NOT_DESIGNED: Final = 0.9

_NAN: Final = 0.125
"""The share of floats that are made NaN, half of them signalling: of random bits they would be one in 256 or fewer."""


def designed(dtype: str, domain: Domain = REAL) -> Array:
    """Return the values of an element type that are worth trying one by one; NaN and infinities if the domain is open."""
    values = _designed(dtype, domain)
    values.flags.writeable = False
    return values


def listed(dtype: str, domain: Domain = REAL) -> Array:
    """Return the designed values, and of floats in an open domain NaN that are infinite but for their last bit."""
    values = designed(dtype, domain)
    if ep.dtype(dtype).kind != "f" or ep.dtype(dtype).itemsize == 1 or not domain.is_open:
        return values
    bits = np.array([math.inf, -math.inf], array_dtype(dtype)).view(f"u{values.itemsize}")
    return np.concatenate([values, (bits + bits.dtype.type(1)).view(array_dtype(dtype))])


@cache
def _designed(dtype: str, domain: Domain) -> Array:
    kind = ep.dtype(dtype).kind
    if kind == "b":
        return np.array([0, *TRUE_BYTES], np.uint8).view(np.bool_)
    if kind == "c":
        return _designed_complex(dtype, domain)
    if kind in "iu":
        low, high = ep.dtype(dtype).range
        values = [value for value in (*_INTEGERS, *_LONG_TIES, low, low + 1, high, high - 1) if low <= value <= high]
        return np.array(sorted(set(values)), array_dtype(dtype))
    return _designed_floats(dtype, domain)


def any_bits(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return elements of any bits: NaN of every payload, subnormals, infinities; of bools as many false as true ones."""
    if dtype == "bool":
        return random(rng, dtype, shape)
    size = math.prod(shape) * ep.dtype(dtype).itemsize
    drawn = rng.integers(0, 256, size, np.uint8)
    if ep.dtype(dtype).kind in "fc":
        infinity = np.array([np.inf], array_dtype(dtype)).real
        parts = drawn.view(f"u{infinity.itemsize}")
        parts[rng.random(parts.size) < _NAN] |= infinity.view(parts.dtype)
    return drawn.view(array_dtype(dtype)).reshape(shape)


def random(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], domain: Domain = REAL) -> Array:
    """Return random values: half dense in the domain, two fifths of any magnitude, the rest designed ones."""
    size = math.prod(shape)
    kind = ep.dtype(dtype).kind
    if kind == "b":
        return _random_bytes(rng, size).reshape(shape)
    if kind == "c":
        return _random_complex(rng, dtype, size, domain).reshape(shape)
    edges = designed(dtype, domain)
    near: Array
    anywhere: Array
    if kind in "iu":
        low, high = ep.dtype(dtype).range
        near = rng.integers(-9 if low else 0, 9, size, endpoint=True)
        anywhere = rng.integers(low, high, size, dtype=array_dtype(dtype), endpoint=True)
    else:
        near = rng.uniform(*domain.bounds(dtype), size)
        anywhere = _any_magnitude(rng, dtype, size, domain) if domain.is_open else near
    kinds = rng.random(size)
    with np.errstate(over="ignore", under="ignore"):
        values = np.where(kinds < _NEAR, near, anywhere).astype(array_dtype(dtype))
    picked = kinds > _NOT_DESIGNED
    if kind == "f":
        picked |= ~domain.contains(dtype, values)  # few: values that rounding moved out of the domain
    values = np.where(picked, rng.choice(edges, size), values)
    return np.asarray(values.reshape(shape))


def ordinary(rng: np.random.Generator, dtype: str, domain: Domain = REAL) -> complex:
    """Return a random positive number that is neither special nor neutral: of the domain, or an integer from 3 to 9."""
    kind = ep.dtype(dtype).kind
    if kind not in "fc":
        return int(rng.integers(3, 9, endpoint=True))
    _, high = domain.bounds(dtype)
    if kind == "c":
        return complex(array_dtype(dtype).type(complex(*(high * rng.uniform(0.1, 0.9, 2)))))
    return float(array_dtype(dtype).type(high * rng.uniform(0.1, 0.9)))


def numbers(dtype: str) -> dict[str, Any]:
    """Return the numbers that a Scalar which is stored is tried with, by name."""
    kind = ep.dtype(dtype).kind
    if kind == "b":
        return {"true": True, "false": False}
    if kind in "iu":
        low, high = ep.dtype(dtype).range
        return {
            "zero": 0,
            "seven": 7,
            "low": low,
            "high": high,
            "bytes": 0x0102030405060708 >> 8 * (8 - ep.dtype(dtype).itemsize),
        }
    info = limits(dtype)
    third = float(array_dtype(dtype).type(1 / 3).real)
    reals = {
        "zero": 0.0,
        "negative-zero": -0.0,
        "third": third,
        "largest": float(info.max),
        "subnormal": float(info.smallest_subnormal),
        "inf": -math.inf,
        "nan": math.nan,
    }
    if kind == "f":
        return reals
    parts = {name: complex(value, 0.5) for name, value in reals.items()}
    return {**parts, "imaginary-negative-zero": complex(0.5, -0.0), "imaginary-nan": complex(0.5, math.nan)}


def exhaustive(dtype: str) -> Array:
    """Return every value of an element type of one or two bytes, in the order of its bits."""
    bits = 8 * ep.dtype(dtype).itemsize
    return np.arange(2**bits, dtype=f"u{bits // 8}").view(array_dtype(dtype))


def _designed_floats(dtype: str, domain: Domain) -> Array:
    into = array_dtype(dtype)
    info = limits(dtype)
    low, high = domain.bounds(dtype)
    eps, tiny, largest = float(info.eps), float(info.smallest_normal), float(info.max)
    ends = [0.0, 1.0, 1 + eps, 1 - eps / 2, 2.0, largest, largest / 2, math.sqrt(largest), tiny, tiny * (1 - eps)]
    ends += [float(info.smallest_subnormal), 3 * float(info.smallest_subnormal), math.sqrt(tiny), eps]
    both = [sign * value for value in (*ends, *_EDGES, *_TIES) for sign in (1.0, -1.0)]
    inside = [scale * end for end in (low, high) for scale in (1.0, 0.5, 0.999, 1.001)]
    with np.errstate(over="ignore", under="ignore"):
        values: Array = np.array([*both, *inside, math.inf, -math.inf, math.nan]).astype(into)
    return values[domain.contains(dtype, values)]


def _designed_complex(dtype: str, domain: Domain) -> Array:
    """Return the grid of parts that are zeros, units, ends of the domain, halves of pi; open domains have all ends."""
    if domain.is_open:
        info = limits(dtype)
        ends = [float(info.max), float(info.smallest_normal), float(info.smallest_subnormal), math.inf, math.nan]
    else:
        ends = list(domain.magnitudes(dtype))
    sizes = (0.0, 1.0, 0.5, math.pi / 2, 2.75, 1e-3, *ends)
    into = array_dtype(dtype)
    parts = np.array([sign * size for size in sizes for sign in (1.0, -1.0)])
    grid = np.empty((len(parts), len(parts)), np.complex128)
    grid.real, grid.imag = parts[:, None], parts
    values = grid.reshape(-1).astype(into)
    return values[domain.contains(dtype, values)]


def _random_complex(rng: np.random.Generator, dtype: str, size: int, domain: Domain) -> Array:
    """Return complex numbers in the shares of `random`, magnitudes drawn for each part."""
    low, high = domain.bounds(dtype)
    near = rng.uniform(low, high, (size, 2))
    if domain.is_open:
        ends = float(limits(dtype).smallest_subnormal), float(limits(dtype).max)
    else:
        ends = domain.magnitudes(dtype)
    sign = np.where(rng.random((size, 2)) < 0.5, -1.0, 1.0)  # noqa: PLR2004 - half of them
    anywhere = sign * np.exp2(rng.uniform(math.log2(ends[0]), math.log2(ends[1]), (size, 2)))
    kinds = rng.random(size)[:, None]
    parts = np.where(kinds < _NEAR, near, np.clip(anywhere, -ends[1], ends[1]))
    if not domain.is_open:
        parts = np.where(np.abs(parts) < ends[0], 0.0, parts)
    with np.errstate(over="ignore", under="ignore"):
        values: Array = np.ascontiguousarray(parts).view(np.complex128)[:, 0].astype(array_dtype(dtype))
    return np.asarray(np.where(kinds[:, 0] > _NOT_DESIGNED, rng.choice(designed(dtype, domain), size), values))


def _random_bytes(rng: np.random.Generator, size: int) -> Array:
    """Return bools of which exactly half are false, the others any non-zero byte."""
    truth = rng.choice(np.array(TRUE_BYTES, np.uint8), size)
    return np.where(rng.permutation(np.arange(size)) % 2 == 0, truth, np.uint8(0)).view(np.bool_)


def _any_magnitude(rng: np.random.Generator, dtype: str, size: int, domain: Domain) -> Any:
    info = limits(dtype)
    exponent = rng.uniform(math.log2(float(info.smallest_subnormal)), math.log2(float(info.max)), size)
    low, _ = domain.bounds(dtype)
    share = 0.5 if low < 0 else 0.05
    sign = np.where(rng.random(size) < share, -1.0, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        return sign * np.exp2(exponent)
