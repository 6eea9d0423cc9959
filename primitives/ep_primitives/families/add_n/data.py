"""Data for the terms of AddN's cases: their sums show a term that is lost, doubled, or rounded too early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.cases import data
from ep_primitives.families.matmul.data import random as moderate
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CONTENTS", "any_values"]

_PAIR: Final = 2


def any_values(rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return a term of each shape: of one or two any values, of more such as have finite partial sums.

    As many outputs are true as false where the terms are bools of one shape.
    """
    if dtype == "bool":
        share = 1 - 0.5 ** (1 / len(shapes))
        return [_bools(rng, shape, share) for shape in shapes]
    if len(shapes) <= _PAIR:
        return [data.random(rng, dtype, shape) for shape in shapes]
    return [moderate(rng, dtype, shape) for shape in shapes]


def _bools(rng: np.random.Generator, shape: tuple[int, ...], share: float) -> Array:
    truth = rng.choice(np.array(data.TRUE_BYTES, np.uint8), shape)
    return np.asarray(np.where(rng.random(shape) < share, truth, 0).astype(np.uint8)).view(np.bool_)


def _integers(rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return terms of small integers, whose sums are exact in every type's compute type."""
    return [rng.integers(-8, 8, shape, endpoint=True).astype(array_dtype(dtype)) for shape in shapes]


def _one_sign(rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return positive terms of like sizes: the rounding errors of their sums add up unless they are unbiased."""
    return [rng.uniform(0.5, 2, shape).astype(array_dtype(dtype)) for shape in shapes]


def _cancelling(rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return terms of which the second half is nearly the opposite of the first."""
    half = len(shapes) // 2
    terms = [moderate(rng, dtype, shape) for shape in shapes[:half]]
    nearly = array_dtype(dtype).type(1 + 2.0**-7)
    return [*terms, *(-term * nearly for term in reversed(terms))]


def _zeros(_rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return zeros of every combination of signs over the terms, and a one now and then."""
    places = np.arange(int(np.prod(shapes[0])))
    terms = [np.where(places >> bit & 1, -0.0, 0.0) for bit in range(len(shapes))]
    terms[0][places % 11 == 0] = 1
    return [term.reshape(shape).astype(array_dtype(dtype)) for term, shape in zip(terms, shapes, strict=True)]


def _not_finite(_rng: np.random.Generator, dtype: str, shapes: list[tuple[int, ...]]) -> list[Array]:
    """Return every combination of a NaN, both infinities and a finite number over the terms."""
    values = np.array([1.5, np.nan, np.inf, -np.inf, -2.25])
    places = np.arange(int(np.prod(shapes[0])))
    terms = [values[places // values.size**each % values.size] for each in range(len(shapes))]
    return [term.reshape(shape).astype(array_dtype(dtype)) for term, shape in zip(terms, shapes, strict=True)]


CONTENTS: Final[Mapping[str, Callable[[np.random.Generator, str, list[tuple[int, ...]]], list[Array]]]] = {
    "": any_values,
    "integers": _integers,
    "one-sign": _one_sign,
    "cancelling": _cancelling,
    "zeros": _zeros,
    "not-finite": _not_finite,
}
"""By name, the functions that draw the terms of a case."""
