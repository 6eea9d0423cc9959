"""Data for the operands of convolutions' cases: random numbers, and the contents that show a fault of one kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.matmul.data import random

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

__all__ = ["CONTENTS", "random"]


def _odd_integers(rng: np.random.Generator, inputs: dict[str, Array]) -> None:
    """Make all of -3, -1, 1 and 3, of which sums are exact; without a sign 1 and 3."""
    for values in inputs.values():
        odd = rng.choice(np.array([1, 3, -1, -3]), values.shape)
        values[...] = (np.abs(odd) if values.dtype.kind == "u" else odd).astype(values.dtype)


def _ends(rng: np.random.Generator, inputs: dict[str, Array]) -> None:
    """Make x and w the ends of their type, so that products are as large as they can be."""
    for name in ("x", "w"):
        values = inputs[name]
        values[...] = rng.choice(np.array(ep.dtype(values.dtype.name).range, values.dtype), values.shape)


def _positive(rng: np.random.Generator, inputs: dict[str, Array]) -> None:
    """Make all products positive and of like sizes, so that the rounding errors of a sum add up unless they are unbiased."""
    for name in ("x", "w"):
        values = inputs[name]
        values[...] = rng.uniform(0.5, 2, values.shape).astype(values.dtype)


def _not_finite(rng: np.random.Generator, inputs: dict[str, Array]) -> None:
    """Put NaN and infinities of both signs into x, one of each into an image of its own, and zeros among the weights."""
    x, w = inputs["x"], inputs["w"]
    w.reshape(-1)[rng.permutation(w.size)[: w.size // 8]] = 0
    for image, values in enumerate(((math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf))):
        flat = x[image].reshape(-1)
        flat[rng.permutation(flat.size)[: len(values)]] = values


def _not_finite_weights(rng: np.random.Generator, inputs: dict[str, Array]) -> None:
    """Make one weight of some m NaN or infinite, one bias, too, and some of x zeros that meet them."""
    x, w, bias = inputs["x"], inputs["w"], inputs["bias"]
    x.reshape(-1)[rng.permutation(x.size)[: x.size // 8]] = 0
    for m, value in enumerate((math.nan, math.inf, -math.inf)):
        flat = w[m].reshape(-1)
        flat[rng.integers(flat.size)] = value
    bias[-1] = math.nan


CONTENTS: Final[Mapping[str, Callable[[np.random.Generator, dict[str, Any]], None]]] = {
    "odd-integers": _odd_integers,
    "ends": _ends,
    "positive": _positive,
    "not-finite": _not_finite,
    "not-finite-weights": _not_finite_weights,
}
"""By name, the functions that change the random operands of a case."""
