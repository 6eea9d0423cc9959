"""Data for the operands of CrossEntropy's cases, each made to show a fault of one kind."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.cases import index_data
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.cross_entropy.descriptor import CrossEntropy

    Labels = Callable[[np.random.Generator, CrossEntropy], Array]
    Scores = Callable[[np.random.Generator, CrossEntropy, Array], tuple[Array, Array]]

__all__ = ["drawn"]

_IGNORED: Final = 0.4


def _random(rng: np.random.Generator, loss: CrossEntropy, labels: Array, size: float = 2.0) -> tuple[Array, Array]:
    """Scores of a few units; of logarithms numbers below 0."""
    del labels
    x = rng.standard_normal(loss.x.shape) * size
    return -np.abs(x) if loss.is_log else x, rng.uniform(0.5, 2, loss.x.shape[1])


def _large(rng: np.random.Generator, loss: CrossEntropy, labels: Array) -> tuple[Array, Array]:
    """Scores so large that their exponentials overflow."""
    return _random(rng, loss, labels, 300.0)


def _same_sign(rng: np.random.Generator, loss: CrossEntropy, labels: Array) -> tuple[Array, Array]:
    """Losses that are all but equal: every rounding of a running sum errs to one side."""
    x, weights = _random(rng, loss, labels, 0.0)
    x -= np.resize([math.pi / 3, math.sqrt(2), 1.3], loss.x.shape[1])
    return x, 1 + weights / 64


def _integers(rng: np.random.Generator, loss: CrossEntropy, labels: Array) -> tuple[Array, Array]:
    """Integers, and weights that are powers of two."""
    del labels
    return -rng.integers(1, 9, loss.x.shape).astype(float), np.resize([2.0, 2.0, 1.0, 4.0, 1.0, 2.0], loss.x.shape[1])


def _special(rng: np.random.Generator, loss: CrossEntropy, labels: Array) -> tuple[Array, Array]:
    """NaN and infinities in the rows of ignored labels, and a few others; in a sum in the former alone."""
    x, weights = _random(rng, loss, labels)
    rows = np.moveaxis(x, 1, -1)
    ignored = labels == loss.ignore_index
    rows[ignored] = rng.choice([math.nan, math.inf, -math.inf], (int(ignored.sum()), x.shape[1]))
    if loss.reduction == "none":
        places = np.argwhere(~ignored)
        for number, place in enumerate(places[:: max(1, len(places) // 6)]):
            rows[(*place, number % x.shape[1])] = (math.nan, -math.inf)[number % 2]
    return x, weights


_SCORES: Final[Mapping[str, Scores]] = {
    "random": _random,
    "large": _large,
    "same-sign": _same_sign,
    "integers": _integers,
    "special": _special,
}


def _ignored(rng: np.random.Generator, loss: CrossEntropy) -> Array:
    """Labels of which two fifths are the one that is ignored."""
    labels = index_data.CONTENTS["random"](rng, loss.labels, 0, loss.x.shape[1])
    return np.where(rng.random(labels.shape) < _IGNORED, loss.ignore_index or 0, labels)


def _even(rng: np.random.Generator, loss: CrossEntropy) -> Array:
    """Labels of classes of one weight, so that the sum of 32 weights is a power of two."""
    del rng
    return np.resize([0, 1, 5, 0, 1, 5, 0, 1], loss.labels.shape)


def _one(rng: np.random.Generator, loss: CrossEntropy) -> Array:
    del rng
    return np.ones(loss.labels.shape)


def _indices(name: str, rng: np.random.Generator, loss: CrossEntropy) -> Array:
    return index_data.CONTENTS[name](rng, loss.labels, 0, loss.x.shape[1])


_LABELS: Final[Mapping[str, Labels]] = {
    **{name: partial(_indices, name) for name in ("random", "mixed")},
    "ignored": _ignored,
    "even": _even,
    "one": _one,
}


def drawn(loss: CrossEntropy, contents: tuple[str, str], rng: np.random.Generator) -> dict[str, Array]:
    """Return the operands of a case; contents : names in SCORES and LABELS."""
    labels = np.asarray(_LABELS[contents[1]](rng, loss)).astype(loss.labels.dtype)
    x, weights = _SCORES[contents[0]](rng, loss, labels)
    into: Any = array_dtype(loss.x.dtype)
    found = {"x": x.astype(into), "labels": labels, "weights": weights.astype(into)}
    return {name: array for name, array in found.items() if name in loss.present}
