"""The rows of RandomFill: how an element is computed from its words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_primitives.judging.accuracy import EXACT, NARROW, Accuracy, Ulps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.random_fill.philox import Words
    from ep_primitives.judging.reference import Array

__all__ = ["RANDOM_OPS", "RandomOp", "words_each"]

_WIDE_ITEM: Final = 8
_FRACTIONS: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Random bits of a uniform number: as many as every multiple of 2^-bits below 1 has room for."""
_INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS: Final = tuple(_FRACTIONS)


def words_each(dtype: str) -> int:
    """Return how many words an element takes: two if it has eight bytes, else one."""
    return 2 if ep.dtype(dtype).itemsize == _WIDE_ITEM else 1


@dataclass(frozen=True, slots=True, eq=False)
class RandomOp:
    """One distribution. In definitions W is the element's word, or its two words as 64 bits, the first one low.

    name       : as in descriptors and cells
    value      : from the element type, W of every element (uint32 or uint64) and the launch's numbers to the elements, of
                 floats in float64
    dtypes     : element types of the output
    numbers    : the Scalars of a launch and their dtypes; "" is the element type
    accuracy   : by element type; "" stands for those not named; `source` is the reason where it states none
    error      : ulps that the reference may be off in float64
    """

    name: str
    value: Callable[..., Array]
    dtypes: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...] = ()
    accuracy: Mapping[str, Accuracy] = field(default_factory=lambda: {"": EXACT})
    error: float = 0.0
    definition: str = ""
    source: str = ""
    since: str = "1.0"

    def accuracy_of(self, dtype: str) -> Accuracy:
        """Return the accuracy of results of an element type."""
        accuracy = self.accuracy[dtype if dtype in self.accuracy else ""]
        return accuracy if accuracy.why else replace(accuracy, why=self.source)


def _words(_dtype: str, words: Words) -> Array:
    return words


def _uniform(dtype: str, words: Array) -> Array:
    bits = _FRACTIONS[dtype]
    spare = 8 * words.dtype.itemsize - bits
    return np.asarray((words >> words.dtype.type(spare)).astype(np.float64) * 2.0**-bits)


def _normal(_dtype: str, words: Array) -> Array:
    from scipy.special import ndtri  # noqa: PLC0415 - SciPy is a conformance dependency and loads when it is needed

    bits = 32 if words.dtype == np.uint32 else 52
    steps = (words >> words.dtype.type(8 * words.dtype.itemsize - bits)).astype(np.float64)
    # Both tails from the lower one: its probability is exact as a float64.
    upper = steps >= 2.0 ** (bits - 1)
    tail = (np.where(upper, 2.0**bits - 1 - steps, steps) + 0.5) * 2.0**-bits
    z = ndtri(tail)
    return np.asarray(np.where(upper, -z, z))


def _bernoulli(_dtype: str, words: Words, p: float) -> Array:
    return np.asarray(words * 2.0**-32 < p)


def _integers(dtype: str, words: Array, low: int, high: int) -> Array:
    into = np.dtype(dtype)
    count = int(high) - int(low) + 1
    if words.dtype == np.uint32:
        # A count of 2^32 still fits: the largest product is (2^32 - 1) 2^32.
        steps = (words.astype(np.uint64) * np.uint64(count)) >> np.uint64(32)
    else:
        steps = _high_half(words, count)
    with np.errstate(over="ignore"):
        return np.asarray((np.uint64(int(low) % 2**64) + steps).astype(into))


def _high_half(words: Array, count: int) -> Array:
    """Return floor(W count / 2^64) for a count of at most 2^64, by halves."""
    half, low = np.uint64(32), np.uint64(2**32 - 1)
    if count == 2**64:
        return words
    first, second = np.uint64(count) & low, np.uint64(count) >> half
    under = (words & low) * first
    middle = (words >> half) * first + (under >> half)
    rest = (words & low) * second + (middle & low)
    return np.asarray((words >> half) * second + (middle >> half) + (rest >> half))


_TAILS: Final = "rational approximations reach 5 ulp (Wichura, AS 241, 1988), CUDA's normcdfinv states 5"

_ROWS: Final = (
    RandomOp(
        "words",
        _words,
        ("uint32",),
        definition="W",
        source="the raw output of the generator",
    ),
    RandomOp(
        "uniform",
        _uniform,
        _FLOATS,
        definition="(the top b bits of W) 2^-b, in [0, 1): b = 11 (float16), 8 (bfloat16), 24 (float32), 53 (float64)",
        source="every value is a multiple of 2^-b that the type holds, so nothing is rounded and 1 is never reached",
    ),
    RandomOp(
        "normal",
        _normal,
        _FLOATS,
        accuracy={"float32": Ulps(8, why=_TAILS), "float64": Ulps(8, why=_TAILS), "": NARROW},
        error=4.0,
        definition="z with Phi(z) = (v + 1/2) 2^-b, Phi the distribution function of the standard normal distribution; "
        "v = W, b = 32, but of float64 v = the top 52 bits of W, b = 52. So |z| <= 6.34, of float64 8.21",
        source="inversion: monotonic in W, symmetric, one word a number",
    ),
    RandomOp(
        "bernoulli",
        _bernoulli,
        ("bool",),
        numbers=(("p", "float64"),),
        definition="W 2^-32 < p, for 0 <= p <= 1: true with probability p, up to 2^-32; never for 0, always for 1",
        source="comparison with one word",
    ),
    RandomOp(
        "integers",
        _integers,
        _INTEGERS,
        numbers=(("low", ""), ("high", "")),
        definition="low + floor(W n 2^-w), for low <= high, both possible: n = high - low + 1, w = 32 or 64 bits of W. A "
        "value's probability differs from 1/n by less than 2^-w",
        source="multiply-high without rejection, so that every element takes as many words: Lemire, ACM TOMACS 29, 2019",
    ),
)

RANDOM_OPS: Final[Mapping[str, RandomOp]] = {row.name: row for row in _ROWS}
"""The distributions by name."""
