"""Data for the rows of Reduce's cases about values, each made to show a fault of one kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.elementwise.op import COMPLEXES, FLOATS, INTEGERS
from ep_primitives.families.matmul import data as matmul_data
from ep_primitives.judging.reference import Array, array_dtype, limits
from ep_primitives.reductions.data import positions, random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_primitives.cases.case import Profile

__all__ = ["CONTENTS", "Content"]

_SUMS: Final = ("sum", "mean", "sum_of_squares", "norm_1", "norm_2")
_NORMS: Final = ("sum_of_squares", "norm_1", "norm_2", "norm_inf")
_EXTREMES: Final = ("max", "min")
_ROUNDED: Final = ("sum", "prod", "mean", *_EXTREMES, *_NORMS, "log_sum_exp")
_WIDE: Final = ("float32", "float64", *COMPLEXES)
_NEARLY: Final = 1 + 2.0**-7  # bfloat16 holds it

Rows = tuple[int, int]


@dataclass(frozen=True)
class Content:
    """Rows for some ops and element types of x.

    rows     : from a generator, the op, the element type and (number, terms) to the rows
    shape    : (number, terms)
    is_exact : True if every order of summation gives the exact result, which is rounded once
    summands : as in `Case`
    """

    name: str
    rows: Callable[[np.random.Generator, str, str, Rows], Array]
    ops: tuple[str, ...]
    dtypes: tuple[str, ...] = FLOATS
    shape: Rows = (24, 67)
    is_exact: bool = False
    summands: int = 0
    profile: Profile = "quick"


def _not_finite(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Put NaN of both signs and infinities at every kind of place, alone and together; a tenth of the rows has none."""
    rows, last = random(rng, op, dtype, *shape), shape[1] - 1
    somewhere, elsewhere = rng.integers(1, last // 2, shape[0]), rng.integers(last // 2, last, shape[0])
    values: tuple[tuple[tuple[int, float], ...], ...] = (
        (),
        ((0, math.nan),),
        ((1, math.nan),),
        ((last, math.nan),),
        ((0, math.inf), (2, math.nan)),
        ((1, math.inf),),
        ((2, -math.inf),),
        ((1, -math.inf), (2, math.inf)),
        ((1, math.nan), (last, -math.inf)),
        ((1, math.inf), (2, 0.0)),
        ((last, math.inf),),
        ((last, -math.inf), (0, -math.inf)),
    )
    for row in range(shape[0]):
        for place, value in values[row % len(values)]:
            rows[row, {1: somewhere[row], 2: elsewhere[row]}.get(place, place)] = value
    rows[len(values)] = -math.inf
    rows[len(values) :] *= np.where(np.isnan(rows[len(values) :]), rows.dtype.type(-1), rows.dtype.type(1))
    return rows


def _not_finite_parts(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Put NaN or an infinity into one part of a complex number in two thirds of the rows."""
    rows = random(rng, op, dtype, *shape)
    for row, place in enumerate(positions(rng, *shape)):
        if row % 3:
            part = rows.real if rng.integers(2) else rows.imag
            part[row, place] = (math.nan, math.inf)[row % 3 - 1]
    return rows


def _signed_zeros(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make zeros of one sign, of both, one unlike the others, and one number among them; and rows of ones."""
    rows = rng.choice([0.0, -0.0], shape)
    for row, place in enumerate(positions(rng, *shape)):
        match row % 7:
            case 0:
                rows[row] = -0.0
            case 1:
                rows[row] = 0.0
            case 2:
                rows[row] = -0.0
                rows[row, place] = 0.0
            case 3:
                rows[row] = 0.0
                rows[row, place] = -0.0
            case 4:
                rows[row, place] = 2.0
            case 5:
                rows[row, place] = -2.0
            case 6:
                rows[row] = rng.choice([1.0, -1.0], shape[1])
    return rows.astype(array_dtype(dtype))


def _subnormal(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    least = float(limits(dtype).smallest_subnormal)
    signs = rng.choice([-1, 1], (shape[0], 1))
    return np.asarray((least * signs * rng.integers(60, 120, shape)).astype(array_dtype(dtype)))


def _equal(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    return np.repeat(matmul_data.random(rng, dtype, (shape[0], 1)), shape[1], axis=1)


def _cancelling(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make the second half of each row nearly the opposite of the first."""
    rows = matmul_data.random(rng, dtype, shape)
    half = shape[1] // 2
    rows[:, half : 2 * half] = -rows[:, rng.permutation(half)] * rows.dtype.type(_NEARLY)
    return rows


def _one_large(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    rows = matmul_data.random(rng, dtype, shape)
    size = 2.0 ** (6 if dtype == "float16" else 20)
    rows[np.arange(shape[0]), positions(rng, *shape)] *= rows.dtype.type(size)
    return rows


def _same_sign(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make numbers from 1 to 2, other ones in each row, of float16 smaller ones, so that no sum is near the end of its range."""
    size = rng.uniform(1, 2, shape) + (1j * rng.uniform(1, 2, shape) if ep.dtype(dtype).kind == "c" else 0)
    scale = rng.uniform(0.5, 1, (shape[0], 1)) / (64 if dtype == "float16" else 1)
    return np.asarray((size * scale).astype(array_dtype(dtype)))


def _halves(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make terms with a last bit of half a unit of a long partial sum: adding them one by one loses it each time.

    Sums of half as many terms are exact, so that sums of blocks, or of pairs, lose nothing but at their end.
    """
    return _odd_bit(rng, op, dtype, shape, ep.dtype(dtype).fraction + 2 - math.floor(math.log2(shape[1])))


def _chains(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make equal terms of which 64 have an exact sum, as pairs of such sums have, while longer chains lose ever more."""
    return _odd_bit(rng, op, dtype, shape, ep.dtype(dtype).fraction - 6)


def _odd_bit(rng: np.random.Generator, op: str, dtype: str, shape: Rows, bits: int) -> Array:
    """Make equal terms, a power of two and its part of 2^-bits, as the op sums them."""
    term = 1 + 2.0 ** -(bits + (op in {"sum_of_squares", "norm_2"}))
    scale = np.exp2(rng.integers(-2, 3, (shape[0], 1))) * (1 + 1j if ep.dtype(dtype).kind == "c" else 1)
    return np.asarray(np.repeat(term * scale, shape[1], axis=1).astype(array_dtype(dtype)))


def _integers(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make odd integers from -3 to 3, in each row of another balance."""

    def part() -> Array:
        signs = np.where(rng.random(shape) < rng.random((shape[0], 1)), -1, 1)
        return np.asarray(signs * rng.choice([1, 3], shape))

    rows = part() + (1j * part() if ep.dtype(dtype).kind == "c" else 0)
    return np.asarray(rows.astype(array_dtype(dtype)))


def _powers(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make factors of 1 and -1, and up to eight of 2."""
    rows = rng.choice([1.0, -1.0], shape)
    for row in range(shape[0]):
        rows[row, rng.integers(0, shape[1], row % 9)] = 2.0
    return rows.astype(array_dtype(dtype))


def _squares(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make 2^(2 k) numbers of one power of two and zeros: their squares have a sum with an exact root."""
    rows, units = np.zeros(shape), [1, -1, 1j, -1j] if ep.dtype(dtype).kind == "c" else [1, -1]
    for row, count in enumerate(4 ** rng.integers(0, int(math.log2(shape[1]) // 2), shape[0], endpoint=True)):
        rows[row, rng.permutation(shape[1])[:count]] = 2.0 ** rng.integers(-3, 4)
    return np.asarray((rows * rng.choice(units, shape)).astype(array_dtype(dtype)))


def _one_part(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make complex numbers of which one part is an odd integer and the other a zero, so that no modulus is rounded."""
    odd = rng.choice([1.0, -1.0, 3.0, -3.0, 5.0, 7.0], shape)
    odd[np.arange(shape[0]), positions(rng, *shape)] *= rng.choice([1, 3, 5], shape[0])
    rows = np.where(rng.random(shape) < 0.5, odd, 1j * odd)  # noqa: PLR2004 - half of them
    return np.asarray(rows.astype(array_dtype(dtype)))


def _one_exponent(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make one exponent of each row so much larger than the others that it is the result."""
    rows = -rng.choice([1024.0, 1536.0, 2048.0], shape)
    rows[np.arange(shape[0]), positions(rng, *shape)] = 0.0
    return np.asarray((rows + rng.choice([0.0, 512.0, -512.0, 1024.0], (shape[0], 1))).astype(array_dtype(dtype)))


def _every_magnitude(rng: np.random.Generator, op: str, dtype: str, shape: Rows) -> Array:
    """Make rows from the smallest normal results to the largest that an op can have in its compute type."""
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    low, high = int(limits(part).minexp) + 8, int(limits(part).maxexp) - 3
    room = math.ceil(math.log2(shape[1]))
    if op == "sum_of_squares":
        low, high = (low, high) if dtype == "float16" else (low // 2 + 16, high // 2)
        high = min(high, (int(limits(part).maxexp) - room) // 2 - 2)
        low = max(low, int(limits(part).minexp) // 2)
    elif op == "norm_2":
        high -= room // 2
    elif op in {"norm_1", "sum"} or (op == "mean" and dtype != "float16"):
        high -= room
    scale = np.exp2(np.linspace(low, high, shape[0]).round())[:, None]
    rows = matmul_data.random(rng, "complex128" if ep.dtype(dtype).kind == "c" else "float64", shape)
    return (rows * scale).astype(array_dtype(dtype))


def _shifted(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make exponents far from 0 on both sides, where exp of each overflows or vanishes, and rows that reach far."""
    middle = np.linspace(-3e4, 3e4, shape[0])[:, None]
    middle[::2] = np.linspace(-800, 800, middle[::2].size)[:, None]
    spread = np.where(np.arange(shape[0]) % 3 == 0, 1000, 3)[:, None]
    return np.asarray((middle + spread * rng.standard_normal(shape)).astype(array_dtype(dtype)))


def _one_larger(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make equal exponents and a larger one, so that the terms are equal fractions, whose sum rounds to one side."""
    rows = np.repeat(rng.uniform(-9, 9, (shape[0], 1)), shape[1], axis=1)
    rows[np.arange(shape[0]), positions(rng, *shape)] += rng.uniform(0.5, 2, shape[0])
    return rows.astype(array_dtype(dtype))


def _ascending(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make exponents that rise, or fall, all along a row, so that the largest is not found early."""
    rows = np.sort(rng.uniform(-9, 9, shape), axis=1)
    rows[::2] = rows[::2, ::-1]
    return (rows + rng.uniform(-9, 9, (shape[0], 1))).astype(array_dtype(dtype))


def _ends(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make the ends of an integer type: one alone in a row, both, and one different from all others."""
    low, high = ep.dtype(dtype).range
    rows = rng.choice(np.array([low, high, low + 1, high - 1], array_dtype(dtype)), shape)
    for row, place in enumerate(positions(rng, *shape)):
        if row % 5:
            end, other = ((low, low + 1), (high, high - 1), (low, high), (high, low))[row % 5 - 1]
            rows[row] = end
            if row % 2:
                rows[row, place] = other
    return rows


def _near_the_end(rng: np.random.Generator, _op: str, dtype: str, shape: Rows) -> Array:
    """Make integers of the upper end of a type, or mostly true bools: their sum needs a type of four times the size."""
    if dtype == "bool":
        return np.asarray(np.arange(shape[1]) >= np.arange(shape[0])[:, None])
    _, high = ep.dtype(dtype).range
    return rng.integers(high - high // 8, high, shape, dtype=array_dtype(dtype), endpoint=True)


def _contents() -> Iterator[Content]:
    real: Any = {"dtypes": FLOATS}
    both: Any = {"dtypes": (*FLOATS, *COMPLEXES)}
    yield Content("not-finite", _not_finite, _ROUNDED, shape=(36, 67), **real)
    yield Content("not-finite-parts", _not_finite_parts, ("sum", "mean", *_NORMS), COMPLEXES)
    yield Content("signed-zeros", _signed_zeros, ("prod", *_EXTREMES, "norm_1", "norm_inf"), is_exact=True, **real)
    yield Content("subnormal", _subnormal, ("sum", "mean", *_EXTREMES, "norm_1", "norm_inf"), **real)
    yield Content("equal", _equal, (*_SUMS, "log_sum_exp"), shape=(11, 1025), **both)
    yield Content("cancelling", _cancelling, ("sum", "mean"), shape=(24, 258), **both)
    yield Content("one-large", _one_large, _SUMS, shape=(24, 257), **both)
    yield Content("same-sign", _same_sign, _SUMS, shape=(11, 4097), **both)
    many: Any = {"shape": (257, 257), "summands": 257}
    yield Content("one-sign", _same_sign, ("sum", "mean", "sum_of_squares", "norm_1"), **both, **many)
    yield Content("halves", _halves, _SUMS, _WIDE, shape=(11, 4097))
    yield Content("chains", _chains, _SUMS, _WIDE, shape=(11, 4097))
    yield Content("integers", _integers, ("sum", "mean", "sum_of_squares"), shape=(24, 256), is_exact=True, **both)
    yield Content("integers", _integers, ("norm_1",), shape=(24, 257), is_exact=True, **real)
    yield Content("squares", _squares, ("norm_2",), shape=(24, 257), is_exact=True, **both)
    yield Content("one-part", _one_part, ("norm_1", "norm_inf"), COMPLEXES, shape=(24, 67), is_exact=True)
    yield Content("one-exponent", _one_exponent, ("log_sum_exp",), shape=(24, 67), is_exact=True, **real)
    yield Content("powers", _powers, ("prod",), shape=(24, 257), is_exact=True, **real)
    yield Content("powers", _powers, ("prod",), COMPLEXES, shape=(24, 257))
    yield Content("every-magnitude", _every_magnitude, ("sum", "mean", *_NORMS), shape=(40, 67), **both)
    yield Content("shifted", _shifted, ("log_sum_exp",), shape=(40, 67), **real)
    yield Content("ascending", _ascending, ("log_sum_exp",), shape=(11, 1025), **real)
    yield Content("one-larger", _one_larger, ("log_sum_exp",), shape=(11, 4097), **real)
    yield Content("ends", _ends, ("sum", *_EXTREMES), INTEGERS, shape=(25, 67))
    yield Content("near-the-end", _near_the_end, ("sum",), ("bool", *INTEGERS), shape=(11, 70001))
    yield Content("same-sign-70001", _same_sign, _SUMS, shape=(11, 70001), profile="standard", **both)
    yield Content("halves-70001", _halves, _SUMS, _WIDE, shape=(11, 70001), profile="standard")


CONTENTS: Final = tuple(_contents())
"""All of them, in the order of the cases."""
